"""Links are read in every format that is written, and in those that other tools write; their ends become entities of the two graphs."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import kgalign
from kgalign import Alignment, AlignmentTask, DataError, KnowledgeGraph, read
from kgalign.data import CLASS, CONCEPT, INDIVIDUAL, PROPERTY
from kgalign.readers import LINK_READERS
from kgalign.readers import link_files as formats
from kgalign.readers.candidates import read_alignments
from kgalign.readers.link_ends import Ends
from kgalign.readers.link_files import read_link_file
from kgalign.readers.links import find_links
from kgalign.readers.places import find_reader
from kgalign.registry import Registry
from kgalign.writers import WRITERS

NO_TRIPLES = np.empty((0, 3), np.int64)
# Ids that some format has to write in another way than the graph does.
SOURCES = [
    "http://x/Café_(bar)",
    "http://x/a%2Fb",
    "my id",
    "=1+1",
    "<http://x/in brackets>",
    "http://x/100%",
    'quoted "name"',
    "_:b0",
    "a,b",
]
TARGETS = ["http://y/1", "urn:isbn:12", "Ünïcode", "-5", "@home", "http://y/[2]", "C#", "http://y/z|z", "http://y/x?a=b&c=d"]


def pair_of_graphs(sources=SOURCES, targets=TARGETS, names=None):
    graphs = [
        KnowledgeGraph(side, [], NO_TRIPLES, own or [f"{at} of {len(side)}" for at in range(len(side))])
        for side, own in ((sources, names), (targets, None))
    ]
    return AlignmentTask(*graphs, Alignment.empty(), np.arange(len(sources)), np.arange(len(targets)))


def found_in(path, task, **options):
    """The pairs of a file between the graphs of a task."""
    ends = Ends.of("source", task.source), Ends.of("target", task.target)
    return find_links(path, read_link_file(path), *ends, **options)[0]


def write(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("ending", list(WRITERS))
def test_every_format_that_is_written_is_read_back(tmp_path, ending):
    task = pair_of_graphs()
    count = len(SOURCES)
    links = Alignment(np.column_stack([np.arange(count), np.arange(count)[::-1]]), np.linspace(0.6, 1, count))
    path = tmp_path / f"links.{ending}"
    kgalign.write(links, task, path)
    assert sorted(found_in(path, task).pairs.tolist()) == links.pairs.tolist()
    scores = {link.source: link.score for link in read_link_file(path)}
    if ending != "nt":  # statements have no probability
        assert sorted(scores.values()) == pytest.approx(sorted(links.scores.tolist()), abs=6e-4)


@pytest.mark.parametrize("ending", list(WRITERS))
def test_links_of_all_kinds_are_read_back(tmp_path, ending):
    kinds = np.array([INDIVIDUAL, CLASS, PROPERTY, CONCEPT])
    graphs = [KnowledgeGraph([f"http://{side}/{i}" for i in range(4)], [], NO_TRIPLES, [""] * 4, kinds=kinds) for side in "xy"]
    task = AlignmentTask(*graphs, Alignment.empty(), np.arange(4), np.arange(4))
    kgalign.write(Alignment(np.column_stack([np.arange(4)] * 2)), task, tmp_path / f"links.{ending}")
    assert len(found_in(tmp_path / f"links.{ending}", task)) == 4


TWO = {"http://x/a": "http://y/a", "http://x/b": "http://y/b"}
PREFIXES = "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
SSSOM = """# curie_map:
#   X: "http://x/"
#   Y: 'http://y/'
# license: https://w3id.org/sssom/license/unspecified, or another one
subject_id\tpredicate_id\tobject_id\tmapping_justification\tconfidence
"""
OAEI = """<?xml version='1.0' encoding='utf-8'?>
<rdf:RDF xmlns='http://knowledgeweb.semanticweb.org/heterogeneity/alignment#' xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>
<Alignment><xml>yes</xml><onto1>http://x</onto1>
%s
</Alignment></rdf:RDF>
"""
CELL = "<map><Cell><entity1 rdf:resource='%s'/><entity2 rdf:resource='%s'/><relation>%s</relation><measure>0.5</measure></Cell></map>\n"
FORMS = {
    "plain.tsv": "http://x/a\thttp://y/a\nhttp://x/b\thttp://y/b\n",
    "header.tsv": "note\ttarget\tsource\n1\thttp://y/a\thttp://x/a\n2\thttp://y/b\thttp://x/b\n",
    "own header.csv": "idDBLP,idACM\nhttp://x/a,http://y/a\nhttp://x/b,http://y/b\n",
    "semicolons.csv": 'left;right\n"http://x/a";"http://y/a"\nhttp://x/b;http://y/b\n',
    "brackets.txt": "<http://x/a>\t<http://y/a>\n<http://x/b>\t<http://y/b>\n",
    "links.sssom.tsv": SSSOM + "X:a\tskos:exactMatch\tY:a\tsemapv:Manual\t0.9\nX:b\towl:sameAs\thttp://y/b\tsemapv:Manual\t1\n"
    "X:b\towl:sameAs\tY:b\tsemapv:Lexical\t0.7\nX:c\tskos:exactMatch\tsssom:NoTermFound\tsemapv:Manual\t\n",
    "sssom without its name": SSSOM + "X:a\tskos:exactMatch\tY:a\t\t\nX:b\tskos:exactMatch\tY:b\t\t\n",
    "alignment.xml": OAEI % "".join(CELL % (*link, "=") for link in TWO.items()),
    "same.nt": "".join(f"<{a}> <http://www.w3.org/2002/07/owl#sameAs> <{b}> .\n" for a, b in TWO.items()),
    "same.ttl": PREFIXES
    + "<http://x/a> skos:exactMatch <http://y/a> . <http://y/b> owl:equivalentClass <http://x/b> ; a owl:Class .",
    "same.rdf": "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:owl='http://www.w3.org/2002/07/owl#'>"
    + "".join(f"<rdf:Description rdf:about='{a}'><owl:sameAs rdf:resource='{b}'/></rdf:Description>" for a, b in TWO.items())
    + "</rdf:RDF>",
    "turned.tsv": "http://y/a\thttp://x/a\nhttp://y/b\thttp://x/b\n",
    "names.csv": "source,target\nAlpha,http://y/a\nbeta,<http://y/b>\n",
    "repeated.tsv": "http://x/a\thttp://y/a\nhttp://x/b\thttp://y/b\nhttp://x/a\thttp://y/a\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_links_of_other_tools_are_read(tmp_path, name):
    write(tmp_path, {name: FORMS[name]})
    task = pair_of_graphs(list(TWO), list(TWO.values()), ["Alpha", "Beta"])
    found = found_in(tmp_path / name, task)
    assert (found.pairs.tolist(), found.record.get("left out")) == ([[0, 0], [1, 1]], None)


def test_a_parquet_table_without_known_names_has_the_source_first(tmp_path):
    table = pa.table({"a": list(TWO), "b": list(TWO.values())})
    pa.parquet.write_table(table, tmp_path / "links.parquet")
    assert len(found_in(tmp_path / "links.parquet", pair_of_graphs(list(TWO), list(TWO.values())))) == 2


def test_relations_that_are_not_equality_are_no_links(tmp_path, caplog):
    rows = "X:a\tskos:broadMatch\tY:a\t\t\nX:a\tskos:closeMatch\tY:b\t\t\nX:b\tskos:exactMatch\tY:b\t\t\n"
    cells = CELL % ("http://x/a", "http://y/a", "&lt;") + CELL % ("http://x/b", "http://y/b", "=")
    turtle = PREFIXES + "<http://x/a> skos:closeMatch <http://y/a> . <http://x/b> skos:exactMatch <http://y/b> ."
    write(tmp_path, {"l.sssom.tsv": SSSOM + rows, "l.xml": OAEI % cells, "l.ttl": turtle})
    for name in ("l.sssom.tsv", "l.xml", "l.ttl"):
        assert [(link.source, link.holds) for link in read_link_file(tmp_path / name)] == [("http://x/b", True)]
    assert "2 rows are no links" in caplog.text
    assert "skos:broadMatch (1)" in caplog.text
    assert "1 cells are no links" in caplog.text


def test_a_file_may_say_that_two_entities_are_not_the_same(tmp_path):
    header = SSSOM.replace("predicate_id", "predicate_id\tpredicate_modifier")
    rows = "X:a\towl:sameAs\tNot\tY:a\t\t\nX:b\towl:sameAs\t\tY:b\t\t\n"
    write(
        tmp_path,
        {
            "l.sssom.tsv": header + rows,
            "l.nt": "<http://x/a> <http://www.w3.org/2002/07/owl#differentFrom> <http://y/a> .\n"
            "<http://x/b> <http://www.w3.org/2002/07/owl#sameAs> <http://y/b> .\n",
            "l.xml": OAEI % (CELL % ("http://x/a", "http://y/a", "%") + CELL % ("http://x/b", "http://y/b", "=")),
            "g.tsv": "http://x/a\tr\thttp://x/b\n",
            "h.tsv": "http://y/a\tr\thttp://y/b\n",
            "both.tsv": "http://x/a\thttp://y/a\nhttp://x/b\thttp://y/a\n",
        },
    )
    for name in ("l.sssom.tsv", "l.nt", "l.xml"):
        task, _ = read(tmp_path / "g.tsv", tmp_path / "h.tsv", seeds=tmp_path / name, rejected=tmp_path / name)
        assert task.seeds.pairs.tolist() == [[1, 1]]
        assert task.rejected.pairs.tolist() == [[0, 0]]
    task, gold = read(tmp_path / "g.tsv", tmp_path / "h.tsv", gold=tmp_path / "l.nt", rejected=tmp_path / "both.tsv")
    assert gold.pairs.tolist() == [[1, 1]]
    assert task.rejected.pairs.tolist() == [[0, 0], [1, 0]]  # pairs that are only listed are rejected, and may share an entity


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("l.tsv", "a\tx\nb\n", r"l\.tsv:2: expected 2 fields, found 1"),
        ("l.csv", "a,x\nb,\n", r"l\.csv:2: expected a source and a target, one is empty"),
        (
            "l.sssom.tsv",
            "#curie_map:\nsubject\tobject\n",
            r"l\.sssom\.tsv: expected a header with the columns subject_id and object_id",
        ),
        ("l.sssom.tsv", "subject_id\tobject_id\nx:a\n", r"l\.sssom\.tsv:2: expected a subject_id and an object_id, one is missing"),
        ("l.xml", OAEI % "<map><Cell></map>", r"l\.xml:4: expected XML, but mismatched tag"),
        ("l.xml", OAEI % "<map><Cell><entity1 rdf:resource='a'/></Cell></map>", r"l\.xml:4: expected entity1 and entity2"),
        ("l.nt", "<http://x/a> <http://x/p> <http://x/b> .\n", r"l\.nt: no statement of this file is a link; expected owl:sameAs"),
        ("l.parquet", "no parquet", r"l\.parquet: expected a Parquet table"),
        ("l.tsv", None, r"l\.tsv: no such file; expected links: SSSOM"),
    ],
)
def test_broken_files_of_links_are_refused_in_one_line(tmp_path, name, text, message):
    if text is not None:
        write(tmp_path, {name: text})
    with pytest.raises(DataError, match=message) as error:
        read_link_file(tmp_path / name)
    assert "\n" not in str(error.value)


@pytest.fixture
def graphs(tmp_path):
    left = "a\tr\tb\na\tlabel\tParis\nb\tlabel\tParis\nc\tlabel\tRome\nc\tr\ta\n"
    return write(tmp_path, {"left.tsv": left, "right.tsv": "x\tr\ty\nz\tr\tx\n"})


@pytest.mark.parametrize("option", ["seeds", "gold", "rejected"])
def test_links_of_vanished_entities_are_counted_and_left_out(graphs, caplog, option):
    write(graphs, {"l.tsv": "a\tx\ngone\ty\nParis\tz\n"})
    places = graphs / "left.tsv", graphs / "right.tsv"
    task, gold = read(*places, **{option: graphs / "l.tsv"})
    links = {"seeds": task.seeds, "gold": gold, "rejected": task.rejected}[option]
    assert links.pairs.tolist() == [[0, 0]]
    assert links.record["left out"] == 2
    assert (
        "l.tsv: 2 of 3 links are left out, since an entity is not found; the first: 2: the source graph has no entity 'gone'"
        in caplog.text
    )
    with pytest.raises(DataError, match=r"l\.tsv:2: the source graph has no entity 'gone'.*leave out `strict`"):
        read(*places, **{option: graphs / "l.tsv"}, strict=True)
    write(graphs, {"l.tsv": "gone\tx\na\tgone too\n"})
    with pytest.raises(DataError, match=r"l\.tsv:1: the source graph has no entity 'gone'.*none of the 2 links of this file"):
        read(*places, **{option: graphs / "l.tsv"})


def test_a_name_that_several_entities_have_is_no_end_of_a_link(graphs):
    write(graphs, {"l.tsv": "Paris\tx\n", "m.tsv": "rome\tx\n"})
    with pytest.raises(DataError, match=r"l\.tsv:1: 2 entities of the source graph are called 'Paris': <a>, <b>; expected"):
        read(graphs / "left.tsv", graphs / "right.tsv", seeds=graphs / "l.tsv")
    task, _ = read(graphs / "left.tsv", graphs / "right.tsv", seeds=graphs / "m.tsv")
    assert task.source.entities[task.seeds.sources[0]] == "c"


def test_seeds_that_share_an_entity_are_refused_with_both_lines(graphs):
    write(graphs, {"l.tsv": "a\tx\nb\ty\na\tz\n"})
    with pytest.raises(DataError, match=r"l\.tsv:3: the source entity 'a' is linked on line 1 already"):
        read(graphs / "left.tsv", graphs / "right.tsv", seeds=graphs / "l.tsv")


@pytest.mark.parametrize("option", ["seeds", "gold", "rejected"])
@pytest.mark.parametrize("text", ["", "source\ttarget\n"])
def test_a_file_without_links_is_refused(graphs, option, text):
    write(graphs, {"l.tsv": text})
    with pytest.raises(DataError, match=r"l\.tsv: no links in this file; expected at least one row of source and target"):
        read(graphs / "left.tsv", graphs / "right.tsv", **{option: graphs / "l.tsv"})


def test_seeds_that_are_all_said_to_be_different_are_refused(graphs):
    write(graphs, {"l.nt": "<http://x/a> <http://www.w3.org/2002/07/owl#differentFrom> <http://y/a> .\n"})
    with pytest.raises(DataError, match=r"l\.nt: all 1 pairs of this file are said to be different; expected links for `seeds`"):
        read(graphs / "left.tsv", graphs / "right.tsv", seeds=graphs / "l.nt")


def test_links_may_be_in_any_encoding(tmp_path):
    task = pair_of_graphs(["Köln", "Zürich"], ["y1", "y2"])
    for encoding in ("cp1252", "utf-16", "utf-8-sig"):
        (tmp_path / "l.csv").write_bytes("source,target\nKöln,y1\nZürich,y2\n".encode(encoding))
        assert found_in(tmp_path / "l.csv", task).pairs.tolist() == [[0, 0], [1, 1]]
    (tmp_path / "l.csv").write_bytes("Köln,y1\n".encode("cp1252"))
    with pytest.raises(DataError, match=r"l\.csv:1: expected UTF-8, found the byte 0xf6"):
        read_link_file(tmp_path / "l.csv", strict=True)


@pytest.mark.parametrize("name", ["l.xlsx", "l.tsv"])
def test_a_spreadsheet_is_no_file_of_links(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK\x03\x04\x14\x00\x06\x00\xff\xfe")
    with pytest.raises(DataError, match="a spreadsheet such as XLSX is no format of links; save it as CSV; expected SSSOM"):
        read_link_file(tmp_path / name)


@pytest.mark.parametrize("ending", ["tsv", "sssom.tsv", "parquet"])
def test_names_beside_the_ids_show_which_way_round_the_links_are(tmp_path, caplog, ending):
    numbers = list("1234")
    names = ["Rome", "Oslo", "Paris", "Bern"]
    left, right = (KnowledgeGraph(numbers, [], NO_TRIPLES, own) for own in (names, [f"{name} (city)" for name in reversed(names)]))
    task = AlignmentTask(left, right, Alignment.empty(), np.arange(4), np.arange(4))
    turned = AlignmentTask(right, left, Alignment.empty(), np.arange(4), np.arange(4))
    links = Alignment(np.array([[0, 3], [1, 2], [2, 1]]))
    kgalign.write(links, task, tmp_path / f"links.{ending}")
    assert found_in(tmp_path / f"links.{ending}", task).pairs.tolist() == links.pairs.tolist()
    assert caplog.text == ""
    found = found_in(tmp_path / f"links.{ending}", turned)
    assert sorted(found.pairs.tolist()) == [[1, 2], [2, 1], [3, 0]]
    assert found.record == {"turned": 3}
    assert "in 3 of 3 links the source comes second: they are read the other way round, since only so the names" in caplog.text


def test_alignment_and_gold_may_be_in_different_formats(tmp_path):
    write(tmp_path, {name: FORMS[name] for name in ("header.tsv", "links.sssom.tsv", "same.ttl", "turned.tsv")})
    for name in ("links.sssom.tsv", "turned.tsv"):
        links, gold = read_alignments(tmp_path / "header.tsv", tmp_path / name)
        assert sorted(links.keys.tolist()) == sorted(gold.keys.tolist())
    links, _ = read_alignments(tmp_path / "links.sssom.tsv", tmp_path / "same.ttl")
    assert links.scores.tolist() == [0.9, 1.0, 0.7]
    write(tmp_path, {"scored.tsv": "source\ttarget\tscore\na\tx\thigh\n"})
    with pytest.raises(DataError, match=r"scored\.tsv:2: expected a probability from 0 to 1, found no number"):
        read_alignments(tmp_path / "scored.tsv", tmp_path / "turned.tsv")


def test_a_run_is_measured_by_gold_links_in_any_form(tmp_path):
    left = "".join(f"http://x/{i}\tlabel\tCity of {name}\n" for i, name in enumerate(("Rome", "Oslo", "Bonn")))
    write(tmp_path, {"left.tsv": left, "right.tsv": left.replace("//x", "//y")})
    write(tmp_path, {"gold.csv": "source,target\nCity of Rome,http://y/0\nCity of Oslo,http://y/1\n"})
    command = [sys.executable, "-m", "kgalign"]
    done = subprocess.run(
        [*command, "align", "left.tsv", "right.tsv", "--gold", "gold.csv"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for gold in ("gold.csv", "run/alignment.sssom.tsv", "run/alignment.tsv"):
        done = subprocess.run([*command, "evaluate", "run", "--gold", gold, "--json"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["recall"] == 1.0


def test_candidates_are_measured_by_gold_links_in_any_form(tmp_path):
    write(tmp_path, {"c.tsv": "http://x/a\thttp://y/a\t0.9\nhttp://x/b\thttp://y/b\t0.8\n", "gold.ttl": FORMS["same.ttl"]})
    command = [sys.executable, "-m", "kgalign", "decode", "c.tsv", "--gold", "gold.ttl", "--json", "--scores", "probability"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["gold"] == 2


def test_cells_that_would_be_formulas_get_an_apostrophe_and_lose_it_again(tmp_path):
    names = ["=HYPERLINK(1)", "-5 degrees", "'=x", "Rome", "-5", "+49 30 1234", "@home"]
    task = pair_of_graphs([f"{i}" for i in range(7)], [f"{name}" for name in names], names)
    links = Alignment(np.column_stack([np.arange(7)] * 2))
    kgalign.write(links, task, tmp_path / "alignment.tsv")
    rows = [line.split("\t") for line in (tmp_path / "alignment.tsv").read_text("utf-8").splitlines()[1:]]
    shown = ["'=HYPERLINK(1)", "'-5 degrees", "''=x", "Rome", "-5", "+49 30 1234", "'@home"]
    assert [row[2] for row in rows] == [row[1] for row in rows] == shown
    assert found_in(tmp_path / "alignment.tsv", task).pairs.tolist() == links.pairs.tolist()
    assert kgalign.runs.read_links(tmp_path / "alignment.tsv", task).pairs.tolist() == links.pairs.tolist()


def test_an_installed_package_adds_a_link_reader(tmp_path, monkeypatch):
    write(
        tmp_path,
        {
            "arrows.py": "from kgalign.seams import GivenLink\n"
            "class Reader:\n"
            "    expects = 'arrows'\n"
            "    def accepts(self, path):\n"
            "        return path.suffix == '.arrows'\n"
            "    def read(self, path, *, strict=False):\n"
            "        return [GivenLink(1, *line.split(' -> ')) for line in path.read_text().splitlines()]\n"
            "reader = Reader()\n",
            "l.arrows": "a -> x\n",
        },
    )
    (tmp_path / "arrows-1.dist-info").mkdir()
    write(tmp_path / "arrows-1.dist-info", {"METADATA": "Metadata-Version: 2.1\nName: arrows\nVersion: 1\n"})
    write(tmp_path / "arrows-1.dist-info", {"entry_points.txt": "[kgalign.link_readers]\narrows = arrows:reader\n"})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(formats, "LINK_READERS", Registry(LINK_READERS.kind, LINK_READERS.group, LINK_READERS.built_in))
    assert find_reader(formats.LINK_READERS, tmp_path / "l.arrows") == "arrows"
    assert [(link.source, link.target) for link in read_link_file(tmp_path / "l.arrows")] == [("a", "x")]


def test_elements_deep_in_each_other_are_read_in_linear_time(tmp_path):
    path = tmp_path / "deep.rdf"
    names = "xmlns='http://knowledgeweb.semanticweb.org/heterogeneity/alignment' xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
    path.write_text(f"<rdf:RDF {names}><Alignment>" + "<a>" * 9000 + "<b/>" * 100_000, "utf-8")
    with pytest.raises(DataError, match=r"deep\.rdf:1: expected XML"):
        read_link_file(path)
