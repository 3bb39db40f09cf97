"""The files that are damaged by `tests/fuzz.py`: small ones in every format, made by kgalign's own writers, and the commands that read them."""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pyoxigraph

from kgalign import Alignment, AlignmentTask, Attributes, KnowledgeGraph, Round, align, make_model, read, write, write_graph
from kgalign.cli import run
from kgalign.datasets import DEMOS
from kgalign.writers import WRITERS

NAMES = ("Rome", "Paris", "Berlin", "Lisboa", "Zürich", "São Paulo", "東京", "=1+1", "tab\there", 'quo"te')
QUICK = ("--model", "names", "--max-rounds", "0")
RDF = {"rdf": "RDF_XML", "jsonld": "JSON_LD", "trig": "TRIG", "nq": "N_QUADS"}
KEPT = ".next.rounds"  # where the rounds of a run are kept that goes to the folder `next`
ENDPOINT = "ENDPOINT"  # stands for the address of a server that answers with a damaged answer.json


@dataclass(frozen=True)
class Entry:
    """A command and its files.

    Attributes:
        name: What is read, for the name of a failure.
        arguments: The command, in a folder that has its files.
        damaged: Files and folders one of which is damaged.
        others: Files and folders that stay whole.
        spent: Files and folders of those that the command may change or remove.
    """

    name: str
    arguments: Sequence[str]
    damaged: Sequence[str]
    others: Sequence[str] = ()
    spent: Sequence[str] = ()


def make_corpus(folder: Path, models: bool = True) -> list[Entry]:
    """Writes the files into a folder, and returns the commands that read them; without models, nothing has to be trained."""
    source, target = (_graph(side) for side in ("source", "target"))
    for name, graph in (("left", source), ("right", target)):
        for ending in ("nt", "ttl", "nt.gz", "ttl.gz"):
            write_graph(graph, folder / f"{name}.{ending}", "en")
    graphs = [f"left.{ending}" for ending in ("nt", "ttl", "nt.gz", "ttl.gz")] + _more_graphs(folder) + _tables(folder)
    task = AlignmentTask(source, target, Alignment.empty(), np.arange(len(NAMES)), np.arange(len(NAMES)))
    links = Alignment(np.column_stack([np.arange(len(NAMES))] * 2), np.linspace(0.3, 1, len(NAMES)))
    for ending in WRITERS.built_in:
        write(links, task, folder / f"links.{ending}")
    (folder / "links.csv").write_text("source,target\nhttp://source/0,http://target/0\n", "utf-8")
    (folder / "names.tsv").write_text("http://source/0\tRoma\n", "utf-8")
    (folder / "only.txt").write_text("http://source/0\nhttp://source/1\n", "utf-8")
    pair, gold = ["left.nt", "right.nt"], [f"links.{ending}" for ending in (*WRITERS.built_in, "csv")]
    entries = [Entry("info", ["info", graph], [graph]) for graph in graphs]
    entries += [Entry("align", ["align", graph, "right.nt", *QUICK], [graph], ["right.nt"]) for graph in graphs]
    for option in ("--gold", "--seeds", "--rejected"):
        entries += [Entry(f"align {option}", ["align", *pair, option, each, *QUICK], [each], pair) for each in gold]
    entries.append(Entry("align --names-source", ["align", *pair, "--names-source", "names.tsv", *QUICK], ["names.tsv"], pair))
    entries.append(Entry("align --only-source", ["align", *pair, "--only-source", "only.txt", *QUICK], ["only.txt"], pair))
    entries += [
        Entry("evaluate", ["evaluate", each, "--gold", "links.tsv"], [each], ["links.tsv"]) for each in gold if each != "links.tsv"
    ]
    return (
        entries
        + _runs(folder, pair)
        + _candidates(folder)
        + _datasets(folder)
        + (_models(folder) if models else [])
        + _answers(folder, task)
    )


def _graph(side: str) -> KnowledgeGraph:
    entities = [f"http://{side}/{number}" for number in range(len(NAMES))]
    triples = [(number, number % 2, (number * 3 + 1) % len(NAMES)) for number in range(len(NAMES))]
    facts = [(number, number % 3) for number in range(len(NAMES))]
    values = ["1961-03-25", "48.5", "a text with words", "1,234", "12345", "long " * 9, "2020", "x@y.org", "", "0"]
    kinds = ["^^http://www.w3.org/2001/XMLSchema#date", "", "@en", "", "", "@zh-Hant", "", "", "", ""]
    attributes = Attributes([f"http://{side}/p{number}" for number in range(3)], np.array(facts), values, kinds)
    return KnowledgeGraph(entities, [f"http://{side}/in", f"http://{side}/near"], np.array(triples), list(NAMES), attributes)


def _more_graphs(folder: Path) -> list[str]:
    """The source in the other formats of RDF, and compressed in other ways."""
    store = pyoxigraph.Store()
    store.load((folder / "left.nt").read_bytes(), pyoxigraph.RdfFormat.N_TRIPLES)
    for ending, name in RDF.items():
        format_, quads = getattr(pyoxigraph.RdfFormat, name), ending in ("trig", "nq", "jsonld")
        content = store.dump(format=format_, **({} if quads else {"from_graph": pyoxigraph.DefaultGraph()}))
        (folder / f"left.{ending}").write_bytes(content or b"")
    plain = (folder / "left.ttl").read_bytes()
    (folder / "left.ttl.bz2").write_bytes(bz2.compress(plain))
    (folder / "left.ttl.zst").write_bytes(pa.compress(plain, "zstd", asbytes=True))
    (folder / "left.utf16.ttl").write_bytes(plain.decode().encode("utf-16"))
    return [*(f"left.{ending}" for ending in RDF), "left.ttl.bz2", "left.ttl.zst", "left.utf16.ttl"]


def _tables(folder: Path) -> list[str]:
    """Tables of entities and of triples."""
    rows = [
        {"id": f"e{number}", "name": name, "year": 1900 + number, "part of": f"e{number // 2}", "tags": "a|b"}
        for number, name in enumerate(NAMES)
    ]
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    (folder / "table.csv").write_text(text.getvalue(), "utf-8")
    (folder / "table.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    plain = [list(rows[0]), *([str(cell).replace("\t", " ") for cell in row.values()] for row in rows)]
    (folder / "table.tsv").write_text("".join("\t".join(row) + "\n" for row in plain), "utf-8")
    (folder / "table.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    pa.parquet.write_table(pa.Table.from_pylist(rows), folder / "table.parquet")
    (folder / "triples.tsv").write_text('Rome\tcapital of\tItaly\nParis\tcapital of\tFrance\nParis\tpeople\t"2"\n', "utf-8")
    found = ["table.csv", "table.csv.gz", "table.tsv", "table.jsonl", "table.parquet", "triples.tsv"]
    if find_spec("openpyxl"):
        import openpyxl

        book = openpyxl.Workbook()
        for row in [list(rows[0]), *(list(each.values()) for each in rows)]:
            book.active.append(row)
        book.save(folder / "table.xlsx")
        found.append("table.xlsx")
    return found


def _runs(folder: Path, pair: Sequence[str]) -> list[Entry]:
    """A run folder, and what reads it."""
    assert run(["align", *(str(folder / each) for each in pair), "-o", str(folder / "run"), *QUICK]) == 0
    reads = {
        "merge": ["merge", "run", "-o", "all.nq", "--changed"],
        "explain": ["explain", "run", "http://source/1"],
        "explain by name": ["explain", "run", "São Paulo", "--changed"],
        "evaluate run": ["evaluate", "run", "--gold", "links.tsv", "--changed"],
        "align over": ["align", *pair, "-o", "run", *QUICK],
        "update": ["update", "run", "--source", "newer.nt", "--decisions", "decisions.jsonl", "-o", "next"],
    }
    _newer_graph_and_decisions(folder)
    others = [*pair, "links.tsv", "newer.nt", "decisions.jsonl"]
    entries = [Entry(name, arguments, ["run"], others) for name, arguments in reads.items()]
    given = [each for each in others if each not in ("newer.nt", "decisions.jsonl")]
    entries.append(Entry("update to", reads["update"], ["newer.nt"], ["run", *given, "decisions.jsonl"]))
    entries.append(Entry("update --decisions", reads["update"], ["decisions.jsonl"], ["run", *given, "newer.nt"]))
    return [*entries, Entry("info --plan", ["info", *pair, "--plan"], ["left.nt"], ["right.nt"]), *_kept_rounds(folder, pair)]


def _newer_graph_and_decisions(folder: Path) -> None:
    """The source as it is later, and what people have decided meanwhile."""
    (folder / "newer.nt").write_text((folder / "left.nt").read_text("utf-8").replace("Paris", "Lyon"), "utf-8")
    decided = [("d1", "match", 0, 0), ("d2", "no match", 1, 1), ("d3", "unsure", 2, 2), ("d4", "match", 3, 4)]
    lines: list[dict[str, object]] = [
        {"id": each, "verdict": verdict, "source": f"http://source/{one}", "target": f"http://target/{other}", "author": "ann"}
        for each, verdict, one, other in decided
    ]
    lines += [
        {**lines[0], "id": "b.0", "batch": "b", "batch_size": 1, "probability": 0.5},
        {"id": "u1", "undo": "d3", "author": "ann"},
    ]
    (folder / "decisions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def _kept_rounds(folder: Path, pair: Sequence[str]) -> list[Entry]:
    """The round of a run that was ended, which is in a hidden folder, and the same run once more."""

    def stop(figures: Round, _: object) -> None:
        if figures.number == 2:
            raise KeyboardInterrupt

    task, _ = read(*(folder / each for each in pair))
    with contextlib.suppress(KeyboardInterrupt):
        align(task, model="names", resume=folder / "next", on_round=stop)
    assert (folder / KEPT).is_dir()
    arguments = ["align", *pair, "--model", "names", "--resume", "-o", "next"]
    return [Entry("align --resume", arguments, [KEPT], pair, (KEPT,))]


def _candidates(folder: Path) -> list[Entry]:
    """Candidates that another tool has scored."""
    rows = [(f"a{i}", f"b{j}", round(1 / (1 + abs(i - j)), 3)) for i in range(6) for j in range(6) if abs(i - j) < 3]
    (folder / "scored.tsv").write_text("".join(f"{a}\t{b}\t{score}\n" for a, b, score in rows), "utf-8")
    (folder / "scored.csv").write_text("".join(f"{a},{b},{score}\n" for a, b, score in rows), "utf-8")
    pa.parquet.write_table(
        pa.table(list(map(list, zip(*rows, strict=True))), ["source", "target", "score"]), folder / "scored.parquet"
    )
    np.savez(folder / "scored.npz", scores=np.eye(4), targets=np.arange(16).reshape(4, 4) % 5, queries=np.arange(4))
    np.savez_compressed(folder / "packed.npz", scores=np.eye(4))
    options = [(), ("--scores", "probability", "--cardinality", "many-to-many"), ("--decoder", "greedy", "--scores", "distance")]
    files = ("scored.tsv", "scored.csv", "scored.parquet", "scored.npz", "packed.npz")
    return [Entry("decode", ["decode", file, *option], [file]) for file in files for option in options]


def _datasets(folder: Path) -> list[Entry]:
    """Folders of benchmarks."""
    dbp15k = {
        "ent_ids_1": "0\thttp://fr/Rome\n1\thttp://fr/Italie\n",
        "ent_ids_2": "2\thttp://en/Rome\n3\thttp://en/Italy\n",
        "triples_1": "0\t0\t1\n",
        "triples_2": "2\t0\t3\n",
        "ref_ent_ids": "0\t2\n1\t3\n",
    }
    (folder / "dbp15k").mkdir()
    for name, text in dbp15k.items():
        (folder / "dbp15k" / name).write_text(text, "utf-8")
    (folder / "openea" / "721_5fold" / "1").mkdir(parents=True)
    for file in (DEMOS / "fr_en").rglob("*.gz"):
        lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)[:60]
        (folder / "openea" / file.relative_to(DEMOS / "fr_en").with_suffix("")).write_bytes(b"".join(lines))
    return [
        Entry(name, [command, name, *rest], [name])
        for name in ("dbp15k", "openea")
        for command, *rest in (("info",), ("align", *QUICK))
    ]


def _models(folder: Path) -> list[Entry]:
    """Trained models, where PyTorch is installed."""
    if not find_spec("torch"):
        return []
    from kgalign import demo

    task, _ = demo("fr_en")
    for name in ("mtranse", "gm"):
        options = {**make_model(name).capabilities.quick_options, "epochs": 1, "device": "cpu"}
        make_model(name, **options).fit(task).save(folder / name)
    place = str(DEMOS / "fr_en")
    rest = ["--max-rounds", "0", "--set", "device=cpu"]
    return [Entry(f"load {name}", ["align", place, "--model", name, "--load", name, *rest], [name]) for name in ("mtranse", "gm")]


def _answers(folder: Path, task: AlignmentTask) -> list[Entry]:
    """The first answer of an endpoint, see `_endpoint` in fuzz.py: a page, which is whole since it has one subject; or the graph of a query."""
    bindings = [
        {
            "s": {"type": "uri", "value": task.source.entities[0]},
            "p": {"type": "uri", "value": "http://x/p"},
            "o": {"type": "literal", "value": name},
        }
        for name in task.source.names
    ]
    (folder / "answer.json").write_text(json.dumps({"head": {"vars": ["s", "p", "o"]}, "results": {"bindings": bindings}}), "utf-8")
    (folder / "part.rq").write_text("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", "utf-8")
    info = ["info", f"sparql+{ENDPOINT}", "--limit", "seconds=2"]
    entries = [Entry("sparql", info, ["answer.json"])]
    for ending in ("nt", "ttl"):
        shutil.copy(folder / f"left.{ending}", folder / f"answer.{ending}")
        entries.append(Entry("sparql --query", [*info, "--query", "part.rq"], [f"answer.{ending}"], ["part.rq"]))
    return entries
