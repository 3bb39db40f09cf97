"""Damaged run folders, saved models and candidates of other tools: one line that names the file, never a traceback."""

import json
import re
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from commands import align_pair, changed_report, command, refused

from kgalign import DataError, KgalignError, Rules, align, demo, make_model
from kgalign.readers.candidates import read_candidates
from kgalign.runs import read_explanations, read_task


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.tsv").write_text("Rome\tRoma\n")
    return align_pair(tmp_path)


def without(*keys):
    return lambda report: {key: value for key, value in report.items() if key not in keys}


def reading(**changes):
    """A change of how run.json says that the graphs were read; None takes an argument out."""

    def change(report):
        read = {name: value for name, value in {**report["options"]["read"], **changes}.items() if value is not None}
        return {**report, "options": {**report["options"], "read": read}}

    return change


REPORTS = {
    "a list": lambda report: [report],
    "a number": lambda report: 3,
    "nothing": lambda report: {},
    "no options": without("options"),
    "no protocol": without("protocol"),
    "options as a list": lambda report: {**report, "options": []},
    "inputs as a list": lambda report: {**report, "inputs": ["left.tsv"]},
    "a time as text": lambda report: {**report, "seconds": {"read": "long"}},
    "an unknown argument": reading(colour="red"),
    "a source that is a number": reading(source=3),
    "no source": reading(source=None),
    "a source with a null byte": reading(source="a\0b"),
    "labels as a number": reading(labels=3),
    "labels of numbers": reading(labels=[3]),
    "a negative seed": reading(split_seed=-1),
    "a share as text": reading(seed_ratio="half"),
    "an unknown cardinality": reading(cardinality="none-to-none"),
    "types of numbers": reading(types=[[1, 2]]),
}


@pytest.mark.parametrize("damage", REPORTS)
def test_a_damaged_report_is_one_line(run, capsys, damage):
    changed_report(run, REPORTS[damage])
    assert re.match(r"kgalign: \S*run/run\.json: ", refused(capsys, "merge", run, "-o", "all.nt", "--changed"))


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b'{"a": \xff}', b"null"])
@pytest.mark.parametrize(
    "arguments", [("merge", "run", "-o", "all.nt"), ("evaluate", "run", "--gold", "gold.tsv"), ("explain", "run", "Oslo")]
)
def test_a_report_that_is_no_json_is_one_line(run, capsys, content, arguments):
    (run / "run.json").write_bytes(content)
    assert "run/run.json: expected the JSON object that a run writes" in refused(capsys, *arguments)


def with_column(table, name, values):
    return table.set_column(table.column_names.index(name), name, values)


EVIDENCE = {
    "no probabilities": (lambda table: table.drop_columns(["probability"]), "the column probability is missing"),
    "no neighbours": (lambda table: table.drop_columns(["neighbours"]), "the column neighbours is missing"),
    "probabilities as text": (lambda table: with_column(table, "probability", pa.array(["high"] * len(table))), "high"),
    "no value": (
        lambda table: with_column(table, "probability", pa.array([None] * len(table), pa.float64())),
        "a value is missing",
    ),
    "other neighbours": (lambda table: with_column(table, "neighbours", pa.array([["x"]] * len(table))), "cast"),
    "no relations": (
        lambda table: with_column(
            table,
            "neighbours",
            pa.array([[{"source": "a", "source_relations": None}]] * len(table), table.schema.field("neighbours").type),
        ),
        "a value is missing",
    ),
    "bytes that are no text": (
        lambda table: with_column(table, "target_name", pa.array([b"\xff"] * len(table)).view(pa.string())),
        "utf-8",
    ),
}


@pytest.mark.parametrize("damage", EVIDENCE)
def test_damaged_evidence_is_one_line(run, capsys, damage):
    change, reason = EVIDENCE[damage]
    table = pa.parquet.read_table(run / "evidence.parquet")
    pa.parquet.write_table(change(table), run / "evidence.parquet")
    line = refused(capsys, "explain", run, "Paris")
    assert "run/evidence.parquet: expected the evidence of a run, but " in line
    assert reason in line


def test_evidence_that_is_cut_off_is_one_line(run, capsys):
    content = (run / "evidence.parquet").read_bytes()
    for part in (content[: len(content) // 2], content[:-20] + bytes(20), b""):
        (run / "evidence.parquet").write_bytes(part)
        assert "run/evidence.parquet: expected the evidence" in refused(capsys, "explain", run, "Paris")


def test_evidence_of_an_older_run_is_read(run):
    table = pa.parquet.read_table(run / "evidence.parquet")
    pa.parquet.write_table(table.drop_columns(["contributions", "matching_names"]), run / "evidence.parquet")
    assert read_explanations(run, "Paris")[0].link.target == "Paris"


ARRAYS = {
    "scores as text": {"scores": np.array([["a"]])},
    "one dimension": {"scores": np.ones(3)},
    "targets as fractions": {"scores": np.ones((2, 2)), "targets": np.full((2, 2), 0.5)},
    "targets as text": {"scores": np.ones((2, 2)), "targets": np.full((2, 2), "a")},
    "queries as fractions": {"scores": np.ones((2, 2)), "queries": np.array([0.5, 1])},
    "queries as dates": {"scores": np.ones((2, 2)), "queries": np.array(["2020-01-01", "2020-01-02"], "datetime64[D]")},
    "too few queries": {"scores": np.ones((2, 2)), "queries": np.arange(1)},
    "complex numbers": {"scores": np.ones((2, 2), complex)},
    "no scores": {"marks": np.ones((2, 2))},
    "objects": {"scores": np.array([[{}]])},
    "no rows": {"scores": np.empty((0, 3))},
    "not a number": {"scores": np.array([[np.nan, 1]])},
    "more than a float holds": {"scores": np.array([[1e39, 1]])},
    "beyond the temperature": {"scores": np.array([[3e38, 1]])},
}


@pytest.mark.parametrize("damage", ARRAYS)
def test_candidates_that_make_no_sense_are_one_line(tmp_path, monkeypatch, capsys, damage):
    monkeypatch.chdir(tmp_path)
    np.savez("c.npz", **ARRAYS[damage])
    assert "c.npz: " in refused(capsys, "decode", "c.npz", "--temperature", "0.001")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("score", ["1e39", "-1e39", "1e999", "nan"])
def test_a_score_of_a_table_that_is_too_large_is_one_line(tmp_path, monkeypatch, capsys, score):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.tsv").write_text(f"a\tx\t1\na\ty\t{score}\n")
    assert "c.tsv: " in refused(capsys, "decode", "c.tsv")


@pytest.mark.parametrize("cut", [10, 100, 200])
def test_an_archive_of_arrays_that_is_cut_off_is_one_line(tmp_path, monkeypatch, capsys, cut):
    monkeypatch.chdir(tmp_path)
    np.savez("c.npz", scores=np.ones((2, 2)))
    (tmp_path / "c.npz").write_bytes((tmp_path / "c.npz").read_bytes()[:cut])
    assert "c.npz: expected the array `scores`" in refused(capsys, "decode", "c.npz")


def test_an_archive_that_is_small_and_unpacks_to_much_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.savez_compressed("c.npz", scores=np.zeros((1000, 1000)))
    assert (tmp_path / "c.npz").stat().st_size < 20_000
    line = refused(capsys, "decode", "c.npz", "--limit", "memory=1000000")
    assert "c.npz: expected" in line
    assert "at most 1,000,000 bytes, found more" in line


@pytest.mark.parametrize("shape", ["(2, 2", "(900000000, 900000000)", "(-1, 2)", "'a'", "()"])
def test_an_array_that_misstates_its_shape_is_one_line(tmp_path, monkeypatch, capsys, shape):
    monkeypatch.chdir(tmp_path)
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    with zipfile.ZipFile("c.npz", "w") as archive:
        archive.writestr("scores.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(32))
    assert "c.npz: expected" in refused(capsys, "decode", "c.npz")


def test_links_in_parquet_that_are_no_text_are_one_line(run, capsys):
    links = {"source": pa.array([b"\xff"]).view(pa.string()), "target": ["Roma"]}
    pa.parquet.write_table(pa.table(links), "links.parquet")
    assert "links.parquet: expected a Parquet table" in refused(capsys, "evaluate", run, "--gold", "links.parquet")


def test_a_row_of_links_with_a_broken_quotation_is_one_line(run, tmp_path, capsys):
    (tmp_path / "links.csv").write_text('source,target\n"Rome"\rx,Roma\n', "utf-8", newline="")
    assert "links.csv:2: expected a row of a table, but " in refused(capsys, "evaluate", run, "--gold", "links.csv")


def test_a_query_that_an_archive_repeats_is_one_entity(tmp_path):
    np.savez(tmp_path / "c.npz", scores=np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.95]]), queries=np.array([7, 5, 7]))
    candidates, task = read_candidates(tmp_path / "c.npz", "probability")
    assert task.source.entities == ["7", "5"]
    assert len(candidates) == 2
    rows, slots = candidates.edges()
    assert sorted(zip(rows.tolist(), candidates.targets[rows, slots].tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert np.exp(candidates.scores[0]).tolist() == pytest.approx([0.95, 0.9]), "of equal pairs the best counts"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A small trained model of each kind of file."""
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[neural]', as `make test` does")
    folder, (task, _) = tmp_path_factory.mktemp("saved"), demo("fr_en")
    for name in ("mtranse", "rdgcn", "gm"):
        model = make_model(name, device="cpu")
        options = {**model.capabilities.quick_options, "epochs": 1}
        make_model(name, device="cpu", **options).fit(task).save(folder / name)
    return folder


def copied(saved, name, folder):
    """A copy of a saved model that does not say which weights belong to it, so that the weights can be changed."""
    from safetensors.torch import load_file

    folder.mkdir()
    notes = json.loads((saved / name / f"{name}.json").read_text("utf-8"))
    del notes["weights"]
    return notes, load_file(saved / name / f"{name}.safetensors")


def loaded(folder, name, notes, tensors):
    from safetensors.torch import save_file

    (folder / f"{name}.json").write_text(json.dumps(notes), "utf-8")
    save_file(tensors, folder / f"{name}.safetensors")
    task, _ = demo("fr_en")
    return align(task, model=name, load=folder, options={"device": "cpu"}, rules=Rules(max_rounds=0))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mtranse", "rdgcn", "gm"])
def test_a_saved_model_with_other_tensors_is_one_line(saved, tmp_path, name):
    notes, tensors = copied(saved, name, tmp_path / name)
    assert loaded(tmp_path / name, name, notes, tensors).links is not None
    for tensor, content in tensors.items():
        rest = {each: value for each, value in tensors.items() if each != tensor}
        changes = [rest, {**rest, tensor: content[None].clone()}]
        changes += [{**rest, tensor: content * float("nan")}] if content.is_floating_point() else []
        for change in changes[: 3 if name != "gm" else 1]:
            with pytest.raises(DataError, match=rf"{name}\.safetensors: expected") as found:
                loaded(tmp_path / name, name, notes, change)
            assert "\n" not in str(found.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mtranse", "gm"])
def test_a_saved_model_with_other_notes_is_one_line(saved, tmp_path, name):
    notes, tensors = copied(saved, name, tmp_path / name)
    wrong = [{key: value for key, value in notes.items() if key != each} for each in notes]
    wrong += [{**notes, key: value} for key in notes if key != "word_size" for value in (None, 3, [None], {"a": 1})]
    wrong += [{**notes, "options": {**notes["options"], "epochs": value}} for value in ("many", None, -1)]
    wrong += [{**notes, "options": {**notes["options"], "colour": "red"}}]
    for each in wrong:
        with pytest.raises(KgalignError, match=rf"{name}\.(json|safetensors): expected|/{name} was trained with") as found:
            loaded(tmp_path / name, name, each, tensors)
        assert "\n" not in str(found.value)


@pytest.mark.slow
def test_weights_and_notes_of_different_trainings_are_not_mixed(saved, tmp_path):
    _, tensors = copied(saved, "mtranse", tmp_path / "mtranse")
    whole = json.loads((saved / "mtranse" / "mtranse.json").read_text("utf-8"))
    for tensor in tensors.values():
        tensor += 1
    with pytest.raises(DataError, match=r"mtranse\.safetensors: expected the weights that were saved with mtranse\.json"):
        loaded(tmp_path / "mtranse", "mtranse", whole, tensors)


def test_the_task_of_a_run_is_read_as_it_was(run):
    assert len(read_task(run)[0].source.entities) == 4
    assert command("evaluate", run, "--gold", "gold.tsv") == 0


@pytest.mark.parametrize("column", ["score", "probability"])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_an_update_refuses_candidates_whose_scores_are_no_numbers(run, tmp_path, capsys, column, number):
    path = run / "candidates.parquet"
    table = pyarrow.parquet.read_table(path)
    place = table.column_names.index(column)
    values = pa.array([number, *table[column].to_pylist()[1:]], table[column].type)
    pyarrow.parquet.write_table(table.set_column(place, column, values), path)
    complaint = refused(capsys, "update", run, "-o", tmp_path / "next")
    assert "candidates.parquet: cannot be read (a score is no finite number)" in complaint
    assert not (tmp_path / "next").exists()


@pytest.mark.parametrize("kind", ["float64", "complex128", "datetime64[s]"])
def test_an_update_refuses_ids_of_a_run_that_are_no_whole_numbers(run, tmp_path, capsys, kind):
    path = run / "update.npz"
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    tree = json.loads(arrays["tree"].tobytes())
    pool = tree["fields"]["pool"]["array"]
    np.savez(path, **{**arrays, pool: arrays[pool].astype(kind)})
    assert "update.npz: cannot be read (its ids are no whole numbers)" in refused(capsys, "update", run, "-o", tmp_path / "next")
