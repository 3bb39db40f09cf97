import gzip
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet
import pytest

from kgalign import DataError, OptionError, read, read_graph, readers
from kgalign.iri import local_name
from kgalign.readers.candidates import read_alignments, read_candidates
from kgalign.registry import Registry


def write_files(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


DBP15K = {
    "ent_ids_1": "0\thttp://x/resource/Rome_(city)\n1\thttp://x/resource/Paris\n2\thttp://x/resource/AC/DC\n",
    "ent_ids_2": "7\thttp://y/resource/Roma\n8\thttp://y/resource/Parigi\n9\thttp://y/resource/AC%2FDC\n",
    "triples_1": "0\t5\t1\n",
    "triples_2": "7\t6\t8",
}


def test_dbp15k_reads_seeds_and_test_links(tmp_path):
    write_files(tmp_path, {**DBP15K, "sup_ent_ids": "0\t7\n", "ref_ent_ids": "1\t8\n2\t9\n"})
    task, gold = read(tmp_path)
    assert task.seeds.pairs.tolist() == [[0, 0]]
    assert gold.pairs.tolist() == [[1, 1], [2, 2]]
    assert (task.protocol, task.queries.tolist(), task.pool.tolist()) == ("closed", [1, 2], [1, 2])
    assert list(task.source.names) == ["Rome (city)", "Paris", "AC/DC"]
    assert task.target.names[2] == "AC/DC"


def test_dbp15k_open_protocol_queries_every_entity_without_a_seed(tmp_path):
    write_files(tmp_path, {**DBP15K, "sup_ent_ids": "0\t7\n", "ref_ent_ids": "1\t8\n"})
    task, _ = read(tmp_path, protocol="open")
    assert (task.queries.tolist(), task.pool.tolist()) == ([1, 2], [1, 2])


def test_dbp15k_pairs_files_are_links_too(tmp_path):
    write_files(tmp_path, {**DBP15K, "sup_pairs": "0\t7\n", "ref_pairs": "1\t8\n"})
    task, gold = read(tmp_path)
    assert (task.seeds.pairs.tolist(), gold.pairs.tolist()) == ([[0, 0]], [[1, 1]])


def test_dbp15k_one_file_of_links_is_split_by_the_ratio(tmp_path):
    write_files(tmp_path, {**DBP15K, "ref_ent_ids": "0\t7\n1\t8\n2\t9\n"})
    task, gold = read(tmp_path, seed_ratio=0.34, split_seed=3)
    assert (len(task.seeds), len(gold)) == (1, 2)
    again, _ = read(tmp_path, seed_ratio=0.34, split_seed=3)
    assert again.seeds.pairs.tolist() == task.seeds.pairs.tolist()


@pytest.mark.parametrize("name", ["names_1", "ent_ids_1_trans_goo"])
def test_dbp15k_takes_names_from_files(tmp_path, name):
    write_files(tmp_path, {**DBP15K, "ref_ent_ids": "0\t7\n1\t8\n", name: "1\tcity of light\n"})
    assert list(read(tmp_path)[0].source.names) == ["Rome (city)", "city of light", "AC/DC"]


def test_dbp15k_reads_attributes_without_values(tmp_path):
    write_files(
        tmp_path, {**DBP15K, "ref_ent_ids": "0\t7\n1\t8\n", "attr_ids_1": "4\thttp://a\n3\thttp://b\n", "ent_attrs_1": "2\t3 4\n"}
    )
    attributes = read(tmp_path)[0].source.attributes
    assert (attributes.properties, attributes.facts.tolist()) == (["http://a", "http://b"], [[2, 1], [2, 0]])


OPENEA = {
    "rel_triples_1": "a\tr\tb\n",
    "rel_triples_2": "A\tR\tB\n",
    "attr_triples_1": 'c\thttp://www.w3.org/2000/01/rdf-schema#label\t"say "hi"\ttwice"@en\n',
    "ent_links": "a\tA\nb\tB\nc\tC\nd\tD\n",
}


def test_openea_keeps_entities_of_attributes_and_links(tmp_path):
    task, _ = read(write_files(tmp_path, OPENEA))
    assert task.source.entities == ["a", "b", "c", "d"]
    assert list(task.source.names) == ["a", "b", 'say "hi"\ttwice', "d"]
    assert task.target.entities == ["A", "B", "C", "D"]


def test_openea_folds_give_seeds_and_test_links(tmp_path):
    folds = {"721_5fold/2/train_links": "a\tA\n", "721_5fold/2/valid_links": "b\tB\n", "721_5fold/2/test_links": "c\tC\nd\tD\n"}
    write_files(tmp_path, {**OPENEA, **folds})
    task, gold = read(tmp_path, fold=2)
    assert (len(task.seeds), len(gold)) == (1, 2)
    with pytest.raises(DataError, match="the folds of this folder are 2"):
        read(tmp_path, fold=1)


def test_tables_of_all_kinds_read_alike(tmp_path):
    rows = [("a", "r", "b"), ("a", "rdfs:label", "Anna, of B")]
    write_files(tmp_path, {"g.tsv": "head\trelation\ttail\n" + "".join("\t".join(row) + "\n" for row in rows)})
    write_files(tmp_path, {"g.csv": 'a,r,b\na,rdfs:label,"Anna, of B"\n', "h.tsv": "x\tr\ty\n", "s.tsv": "a\tx\t0.9\nb\ty\n"})
    (tmp_path / "g.tsv.gz").write_bytes(gzip.compress((tmp_path / "g.tsv").read_bytes()))
    table = pa.table(dict(zip("htr", zip(*rows, strict=True), strict=True)))
    pa.parquet.write_table(table, tmp_path / "g.parquet")
    for name in ("g.tsv", "g.csv", "g.tsv.gz", "g.parquet"):
        task, gold = read(tmp_path / name, tmp_path / "h.tsv", seeds=tmp_path / "s.tsv")
        assert task.source.entities == ["a", "b"]
        assert list(task.source.names) == ["Anna, of B", "b"]
        assert (len(task.seeds), len(gold), task.protocol) == (2, 0, "open")


def test_a_first_row_of_entities_is_no_header(tmp_path):
    write_files(tmp_path, {"g.tsv": "S\tsymbol of\tSulfur\n", "h.tsv": "subject\tpredicate\tobject\na\tr\tb\n"})
    task, _ = read(tmp_path / "g.tsv", tmp_path / "h.tsv")
    assert (task.source.entities, task.target.entities) == (["S", "Sulfur"], ["a", "b"])


def test_a_file_of_links_of_unknown_entities_is_refused(tmp_path):
    write_files(tmp_path, {"g.tsv": "a\tr\tb\n", "h.tsv": "x\tr\ty\n", "unknown.tsv": "c\tx\n"})
    with pytest.raises(DataError, match=r"unknown\.tsv:1: the source graph has no entity 'c'.*none of the 1 links"):
        read(tmp_path / "g.tsv", tmp_path / "h.tsv", seeds=tmp_path / "unknown.tsv")


def test_further_columns_are_left_out_and_bare_numbers_are_counted(tmp_path):
    rows = ["film1\tdirector\tlang\tx", 'film1\tlabel\t"M\t1931"@de\tx', "film1\tyear\t1931\tx", "film2\tshot\t1931-05-11\t"]
    (tmp_path / "films.tsv").write_text("\n".join(rows))
    graph = read_graph(tmp_path / "films.tsv")
    assert list(graph.entities) == ["film1", "lang", "1931", "film2", "1931-05-11"]
    assert graph.names[0] == "M\t1931"
    assert graph.record["entities that look like numbers or dates"] == 2
    (tmp_path / "ids.tsv").write_text("12\tnear\t13\n")
    assert not read_graph(tmp_path / "ids.tsv").record


def test_a_folder_of_tables_is_recognised(tmp_path):
    files = {"triples_1.tsv": "a\tr\tb\n", "triples_2.csv": "A,R,B\n", "seeds.tsv": "a\tA\n", "links.csv": "b,B\n"}
    task, gold = read(write_files(tmp_path, files))
    assert (len(task.seeds), len(gold)) == (1, 1)


def test_an_unknown_folder_lists_the_files_of_each_format(tmp_path):
    expected = (
        r"no known dataset in this folder; expected a DBP15K folder \(ent_ids_1.*OpenEA folder \(rel_triples_1.*tables \(triples_1"
    )
    with pytest.raises(DataError, match=expected):
        read(tmp_path)


def test_a_wrong_place_lists_what_the_readers_expect(tmp_path):
    expected = (
        r"; expected RDF \(a file.*, a SPARQL endpoint \(sparql\+http://host/path\), a table \(csv, tsv, parquet, xlsx, jsonl\), "
        r"or a table of triples \(tsv, csv, parquet\)"
    )
    with pytest.raises(DataError, match=r"nowhere\.tsv: no such file or folder" + expected):
        read_graph(tmp_path / "nowhere.tsv")
    with pytest.raises(DataError, match="no graph in this folder" + expected):
        read_graph(tmp_path)
    write_files(tmp_path, {"g.tsv": "a\tr\tb\n", "h.tsv": "a\tr\tb\n"})
    with pytest.raises(DataError, match=r"g\.tsv, .*h\.tsv: these files do not make up a graph" + expected):
        read_graph([tmp_path / "g.tsv", tmp_path / "h.tsv"])
    with pytest.raises(DataError, match="no file has such a name"):
        read_graph(tmp_path / "*.nt")
    with pytest.raises(DataError, match="no files given for a graph"):
        read_graph([])


def test_a_pattern_or_a_list_of_one_table_is_that_table(tmp_path):
    write_files(tmp_path, {"g.tsv": "a\tr\tb\n"})
    for place in (str(tmp_path / "*.tsv"), [tmp_path / "g.tsv"]):
        assert read_graph(place).entities == ["a", "b"]


PLUG_IN = """
from pathlib import Path
from kgalign import Alignment, KnowledgeGraph
from kgalign.seams import GraphPair

def edges(path):
    pairs = [line.split() for line in Path(path).read_text().splitlines()]
    entities = sorted({entity for pair in pairs for entity in pair})
    return KnowledgeGraph(entities, ["edge"], [(entities.index(a), 0, entities.index(b)) for a, b in pairs], entities)

class Reader:
    expects = "an edge list (*.edges)"
    def accepts(self, place):
        return str(place).endswith(".edges")
    def read(self, place, *, strict=False):
        return edges(place)

class Dataset:
    expects = "a folder of two edge lists (1.edges, 2.edges)"
    def accepts(self, folder):
        return (folder / "1.edges").is_file()
    def read(self, folder, *, fold=1):
        return GraphPair(edges(folder / "1.edges"), edges(folder / "2.edges"), None, Alignment([[0, 0], [1, 1]]))

reader, dataset = Reader(), Dataset()
"""


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """An installed package with a reader of graphs and one of datasets."""
    files = {
        "edge_lists.py": PLUG_IN,
        "edge_lists-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: edge-lists\nVersion: 1\n",
        "edge_lists-1.dist-info/entry_points.txt": "[kgalign.readers]\nedges = edge_lists:reader\n"
        "[kgalign.datasets]\ntwo_edges = edge_lists:dataset\n",
    }
    monkeypatch.syspath_prepend(write_files(tmp_path / "installed", files))
    for name in ("READERS", "DATASETS"):
        built_in = getattr(readers, name)
        monkeypatch.setattr(readers, name, Registry(built_in.kind, built_in.group, built_in.built_in))
    yield
    sys.modules.pop("edge_lists", None)


@pytest.mark.usefixtures("plug_in")
def test_an_installed_package_adds_a_reader(tmp_path):
    write_files(
        tmp_path,
        {"g.edges": "a b\nb c\n", "h.tsv": "x\tr\ty\n", "seeds.tsv": "a\ty\n", "left.nt": "<http://x/a> <http://x/r> _:b ."},
    )
    assert list(readers.READERS) == ["rdf", "sparql", "table", "triples", "edges"]
    assert list(read_graph(tmp_path / "g.edges").names) == ["a", "b", "c"]
    task, _ = read(str(tmp_path / "g.edges"), tmp_path / "h.tsv", seeds=tmp_path / "seeds.tsv")
    assert (task.seeds.pairs.tolist(), task.queries.tolist()) == ([[0, 1]], [1, 2])
    assert len(read(tmp_path / "left.nt", tmp_path / "g.edges", strict=True)[0].target.entities) == 3
    with pytest.raises(OptionError, match="`labels`, `languages` and `strict` are for RDF, and this graph comes with its names"):
        read_graph(tmp_path / "g.edges", languages=["en"])
    with pytest.raises(DataError, match=r"or an edge list \(\*\.edges\)"):
        read_graph(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"g\.edges: this is one graph: give the other one too"):
        read(tmp_path / "g.edges")


@pytest.mark.usefixtures("plug_in")
def test_an_installed_package_adds_a_dataset(tmp_path):
    write_files(tmp_path / "pair", {"1.edges": "a b\n", "2.edges": "x y\n"})
    assert (readers.dataset_format(tmp_path / "pair"), readers.is_dataset(tmp_path / "pair")) == ("two_edges", True)
    task, gold = read(tmp_path / "pair", seed_ratio=0.5)
    assert (len(task.seeds), len(gold), task.protocol) == (1, 1, "closed")
    with pytest.raises(DataError, match=r"or a folder of two edge lists"):
        read(tmp_path)


def test_what_the_readers_expect_is_known_without_the_parsers():
    script = (
        "import sys; sys.modules.update(dict.fromkeys(('pyoxigraph', 'pyarrow', 'urllib.request')))",
        "from kgalign.readers import DATASETS, READERS",
        "print(*(reader.expects for registry in (READERS, DATASETS) for reader in registry.values()), sep='; ')",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(script)], capture_output=True, text=True, check=True)
    assert "sparql+http://host/path" in done.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sup_ent_ids": "0\t99\n"}, r"sup_ent_ids:1: the target graph has no entity '99'"),
        ({"sup_ent_ids": "0\t7\n0\t7\n"}, r"sup_ent_ids:2: the source entity '0' is linked on line 1 already"),
        ({"sup_ent_ids": "0\t7\n1\t7\n"}, r"sup_ent_ids:2: the target entity '7' is linked on line 1 already"),
        (
            {"sup_ent_ids": "0\t7\n", "ref_ent_ids": "0\t8\n"},
            r"ref_ent_ids: 1 source entities are in the seeds and in the test links",
        ),
        ({"triples_1": "0\t5\n"}, r"triples_1:1: expected 3 fields between tabs, found 2"),
        ({"triples_1": "0\t5\t42\n"}, r"triples_1:1: no entity has the id '42'"),
        ({"triples_1": ""}, r"triples_1: the graph is empty"),
        ({"rel_ids_1": "1\tr\n"}, r"triples_1:1: no relation has the id '5'"),
    ],
)
def test_bad_dbp15k_files_are_refused_in_one_line(tmp_path, change, message):
    write_files(tmp_path, {**DBP15K, **change})
    with pytest.raises(DataError, match=message) as error:
        read(tmp_path)
    assert "\n" not in str(error.value)


def test_missing_things_are_refused(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        read(tmp_path / "nowhere")
    write_files(tmp_path, {"g.tsv": "a\tr\tb\n", "empty.tsv": ""})
    with pytest.raises(DataError, match="give the other one too"):
        read(tmp_path / "g.tsv")
    with pytest.raises(DataError, match=r"empty\.tsv: the graph is empty"):
        read(tmp_path / "g.tsv", tmp_path / "empty.tsv")
    with pytest.raises(OptionError, match="there are no test links; set `protocol` to open"):
        read(tmp_path / "g.tsv", tmp_path / "g.tsv", protocol="closed")


def test_options_for_two_graphs_are_refused_for_a_dataset_folder(tmp_path):
    write_files(tmp_path, DBP15K)
    with pytest.raises(OptionError, match="`seeds` and `gold` go with two graphs"):
        read(tmp_path, seeds=tmp_path / "ent_ids_1")
    with pytest.raises(OptionError, match="`labels`, `languages` and `strict` are for RDF, and this is a dataset folder"):
        read(tmp_path, strict=True)


def test_broken_tables_are_refused(tmp_path):
    write_files(tmp_path, {"g.csv": "a,r,b\na,r\n", "g.parquet": "no parquet", "h.tsv": "a\tr\tb\n"})
    for name in ("g.csv", "g.parquet"):
        with pytest.raises(DataError, match=name):
            read(tmp_path / name, tmp_path / "h.tsv")


def test_local_name_is_what_a_person_would_write():
    assert local_name("http://dbpedia.org/resource/AC/DC") == "AC/DC"
    assert local_name("<http://x.org/a#Caf%C3%A9_noir>") == "Café noir"
    assert local_name("Q42") == "Q42"
    assert local_name("TCP/IP") == "TCP/IP"
    assert local_name("http://x.org/") == "x.org"


def test_candidates_of_another_tool_are_read(tmp_path):
    (tmp_path / "c.tsv").write_text("source\ttarget\tscore\na\tx\t0.2\na\ty\t0.9\nb\tx\t0.5\n")
    candidates, task = read_candidates(tmp_path / "c.tsv", "distance")
    assert [task.target.entities[i] for i in candidates.targets[0]] == ["x", "y"]
    probabilities = read_candidates(tmp_path / "c.tsv", "probability")[0].probabilities()
    assert probabilities[0].tolist() == pytest.approx([0.9 / 1.1, 0.2 / 1.1])
    (tmp_path / "c.tsv").write_text("a\tx\tmuch\n")
    with pytest.raises(DataError, match=r"c\.tsv:1: expected a number as score, found 'much'"):
        read_candidates(tmp_path / "c.tsv")


def test_alignments_are_read_with_or_without_scores(tmp_path):
    (tmp_path / "a.tsv").write_text("source\ttarget\tprobability\tround\na\tx\t0.5\t1\nb\ty\t1\t0\n")
    (tmp_path / "g.tsv").write_text("a\tx\nc\ty\n")
    links, gold = read_alignments(tmp_path / "a.tsv", tmp_path / "g.tsv")
    assert links.scores.tolist() == [0.5, 1.0]
    assert gold.pairs.tolist() == [[0, 0], [2, 1]]
    (tmp_path / "other.csv").write_text("id,name\na,Rome\nb,Oslo\n")
    with pytest.raises(DataError, match=r"other\.csv: no link has a target of the gold links; .* such as 'x', found 'name'"):
        read_alignments(tmp_path / "other.csv", tmp_path / "g.tsv")
