"""Small files that describe gigabytes are refused in one line, and a raised limit reads them."""

import gzip
import json
import re
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from dataclasses import fields
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import align_pair, command
from commands import refused as refused_command

from kgalign import DataError, Limits, OptionError, ReviewSession, read, read_graph, update
from kgalign.readers.candidates import read_candidates
from kgalign.runs import read_task

MIB = 1 << 20
RDF_XML = '<?xml version="1.0"?>\n{}<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">\n{}\n</rdf:RDF>\n'


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(place, match, **options):
    """The CPU time after which a place is refused in one line that begins with its path."""
    began = time.process_time()
    with pytest.raises(DataError, match=match) as error:
        read_graph(place, **options)
    message = str(error.value)
    assert message.startswith(str(place))
    assert "\n" not in message
    assert len(message) < 1000
    return time.process_time() - began


@pytest.mark.parametrize("opening", ['{"http://x/n":', '{"http://x/n":{"@list":[', '{"\\"[{": "[[[[", "http://x/n":'])
def test_deep_json_ld_is_refused_and_does_not_crash(tmp_path, opening):
    closing = "".join(
        {"{": "}", "[": "]"}[sign] for sign in reversed(opening.replace('\\"[{', "").replace("[[[[", "")) if sign in "{["
    )
    levels = len(closing)

    def nested(count):
        return '{"@id":"http://x/a","http://x/n":' + opening * count + '{"@id":"http://x/b"}' + closing * count + "}"

    refused(write(tmp_path / "deep.jsonld", nested(4_000)), r"deep\.jsonld:1: expected .* at most 200 levels")
    path = write(tmp_path / "g.jsonld", nested(300 // levels))
    refused(path, r"`limits` json_levels=400")
    assert len(read_graph(path, limits={"json_levels": 400}).entities) > 1
    refused(tmp_path / "deep.jsonld", "1,500 levels, found more; this limit cannot be raised$", limits=Limits(json_levels=1_500))


def test_brackets_in_strings_of_json_ld_are_no_levels(tmp_path):
    text = "[{" * 200_000 + '\\"' * 200_000  # across blocks
    graph = read_graph(write(tmp_path / "g.jsonld", f'{{"@id": "http://x/a", "http://x/n": "{text}", "http://x/m": ["{{"]}}'))
    assert sorted(map(len, graph.attributes.values)) == [1, 600_000]


STATEMENT = "<http://x/a> <http://x/says> "


def nested_terms(count):
    """Triple terms of RDF 1.2, each inside the one before it."""
    return f"<<( {STATEMENT}" * count + '"a"' + " )>>" * count


@pytest.mark.parametrize("name", ["g.nt", "g.nq", "g.ttl", "g.trig", "pretty.ttl"])
def test_deep_triple_terms_are_left_out_and_do_not_crash(tmp_path, name):
    lines = [f"{STATEMENT}<http://x/b> .", f"{STATEMENT}{nested_terms(20_000)} .", '<http://x/b> <http://x/n> "<<(" .']
    prefixes = "@prefix x: <http://y/> .\n" if name == "pretty.ttl" else ""
    path = write(tmp_path / name, prefixes + "\n".join(lines))
    graph = read_graph(path)
    assert (graph.entities, graph.attributes.values) == (["http://x/a", "http://x/b"], ["<<("])
    assert (graph.record["broken"], "more than 500 triple terms" in graph.record["first broken"][0]) == (1, True)
    refused(path, rf"{name}:{3 if prefixes else 2}: expected .* \(more than 500 triple terms lie inside each other\)", strict=True)
    write(tmp_path / "h.nt", f"{STATEMENT}<http://x/b> .\n")
    seeds = write(tmp_path / f"seeds-{name}", path.read_text().replace("http://x/says", "http://www.w3.org/2002/07/owl#sameAs"))
    assert len(read(tmp_path / "h.nt", tmp_path / "h.nt", seeds=seeds)[0].seeds) == 1


@pytest.mark.parametrize("name", ["g.nt", "g.ttl", "g.trig"])
def test_many_triple_terms_and_their_signs_in_literals_are_no_levels(tmp_path, name):
    many = "".join(f"<http://x/{number}> <http://x/says> {nested_terms(2)} .\n" for number in range(600))
    signs = f'<http://x/a> <http://x/n> "{"<<( " * 600}" .\n<http://x/b> <http://x/n> "# \\" <<(" .\n'
    graph = read_graph(write(tmp_path / name, many + signs), strict=True)
    assert sorted(map(len, graph.attributes.values)) == [7, 2400]


NESTING = {"lists": ("(", ")"), "blank nodes": ("[ <http://x/p> ", "]"), "both": ("([ <http://x/p> ", "])")}


@pytest.mark.parametrize("brackets", NESTING.values(), ids=NESTING)
@pytest.mark.parametrize("name", ["g.ttl", "g.trig"])
def test_deep_lists_and_blank_nodes_are_left_out_quickly(tmp_path, name, brackets):
    def text(count):
        opening, closing = brackets
        return f'<http://x/a> <http://x/n> "a" .\n{STATEMENT}{opening * count}"b"{closing * count} .\n<http://x/b> <http://x/n> "b" .\n'

    path, began = write(tmp_path / name, text(1 << 19)), time.process_time()
    graph = read_graph(path)
    assert time.process_time() - began < 10
    assert (graph.entities, list(graph.names)) == (["http://x/a", "http://x/b"], ["a", "b"])
    assert (graph.record["broken"], "more than 10,000 lists and blank nodes" in graph.record["first broken"][0]) == (1, True)
    refused(path, rf"{name}:2: expected .* \(more than 10,000 lists and blank nodes lie inside each other\)", strict=True)
    assert read_graph(write(path, text(5_000)), strict=True).record["broken"] == 0


@pytest.mark.parametrize("name", ["g.ttl", "g.trig"])
def test_brackets_in_literals_and_iris_of_turtle_are_no_levels(tmp_path, name):
    lines = [f'<http://x/a{number}(> <http://x/n> \':-({number}\', """[\n""" . # (' for number in range(20_000)]
    graph = read_graph(write(tmp_path / name, "\n".join(lines)), strict=True)
    assert (len(graph.entities), len(graph.attributes.values)) == (20_000, 40_000)


def test_deep_triples_of_rdf_xml_are_refused_with_the_highest_limit(tmp_path):
    opening, closing = '<rdf:Description rdf:about="http://x/a"><x:r rdf:parseType="Triple">', "</x:r></rdf:Description>"
    path = write(tmp_path / "g.rdf", RDF_XML.format("", opening * 30_000 + closing * 30_000))
    refused(path, "`limits` xml_levels=20000$", limits=Limits(xml_levels=15_000))
    refused(path, "20,000 levels, found more; this limit cannot be raised$", limits=Limits(xml_levels=20_000))


def test_deep_rdf_xml_is_refused(tmp_path):
    def nested(count):
        return RDF_XML.format("", "<rdf:Description><x:r>" * count + "</x:r></rdf:Description>" * count)

    assert refused(write(tmp_path / "deep.rdf", nested(100_000)), r"deep\.rdf:\d+: expected .* at most 10,000 levels") < 2
    path = write(tmp_path / "g.rdf", nested(50))
    refused(path, "`limits` xml_levels=180", limits=Limits(xml_levels=90))
    assert read_graph(path).record["broken"] == 0


def test_a_bare_sign_in_the_text_of_rdf_xml_is_no_level(tmp_path):
    values = '<rdf:Description rdf:about="http://x/a"><x:n>x & y < z</x:n></rdf:Description>\n' * 300
    graph = read_graph(write(tmp_path / "g.rdf", RDF_XML.format("", values)), limits=Limits(xml_levels=100))
    assert (set(graph.attributes.values), graph.record["broken"]) == ({"x & y < z"}, 0)


def test_markup_in_comments_and_sections_of_rdf_xml_is_no_level(tmp_path):
    text = f'<rdf:Description rdf:about="http://x/a"><x:n><![CDATA[{"<br>" * 90_000}]]></x:n></rdf:Description><!-- {"<br>" * 90_000} -->'
    graph = read_graph(write(tmp_path / "g.rdf", RDF_XML.format("", text)), strict=True)
    assert len(graph.attributes.values[0]) == 360_000


@pytest.mark.parametrize("name", ["e", "e:", "é.", "1"])
def test_nested_entities_are_refused(tmp_path, name):
    entities = f'<!ENTITY {name}0 "xxxxxxxxxx">' + "".join(f'<!ENTITY {name}{i} "{f"&{name}{i - 1};" * 10}">' for i in range(1, 10))
    text = RDF_XML.format(
        f"<!DOCTYPE rdf:RDF [{entities}]>", f'<rdf:Description rdf:about="http://x/a"><x:n>&{name}9;</x:n></rdf:Description>'
    )
    refused(
        write(tmp_path / "bomb.rdf", text),
        r"bomb\.rdf: expected XML entities .* at most 100 times its size, .* `limits` expansion=200",
    )


def test_an_entity_that_is_used_too_often_is_refused(tmp_path):
    used = f'<rdf:Description rdf:about="http://x/a"><x:n>{"&e;" * 9_000}</x:n></rdf:Description>'
    text = RDF_XML.format(f'<!DOCTYPE rdf:RDF [<!ENTITY e "{"x" * 4_000}">]>', used)
    path = write(tmp_path / "g.rdf", text)
    refused(path, "XML entities that make a document larger")
    assert len(read_graph(path, limits={"expansion": 2_000}).attributes.values[0]) == 36_000_000


LONG = {
    "nt": '<http://x/a> <http://x/n> "{}" .\n',
    "nq": '<http://x/a> <http://x/n> "{}" <http://x/g> .\n',
    "ttl": '<http://x/a> <http://x/n> """{}""" .\n',
    "trig": '<http://x/a> <http://x/n> """{}""" .\n',
    "jsonld": '{{"@id": "http://x/a", "http://x/n": "{}"}}',
}


@pytest.mark.parametrize("name", LONG)
def test_a_literal_above_16_mib_is_one_line(tmp_path, name):
    text = "xxx .\n" * (3 * MIB) if name in ("ttl", "trig") else "x" * (17 * MIB)
    path = write(tmp_path / f"g.{name}", LONG[name].format(text))
    assert refused(path, rf"g\.{name}:\d+: expected (?:a line of at most 16|literals of less than (?:16|8))") < 8


@pytest.mark.parametrize("name", LONG)
def test_a_literal_of_several_mib_is_read(tmp_path, name):
    length = (7 if name == "jsonld" else 15) * MIB
    path = write(tmp_path / f"g.{name}", LONG[name].format("x" * length))
    assert len(read_graph(path, strict=True).attributes.values[0]) == length


def test_a_long_literal_of_turtle_keeps_to_the_limit(tmp_path):
    path = write(
        tmp_path / "g.ttl", '<http://x/a> <http://x/r> <http://x/b> .\n<http://x/a> <http://x/n> """' + "x .\n" * 1000 + '""" .\n'
    )
    refused(
        write(tmp_path / "open.ttl", path.read_bytes()[:-900]),
        r"open\.ttl:2: expected a literal of at most 500",
        limits=Limits(line=500),
    )
    assert len(read_graph(path, limits=Limits(line=5_000)).attributes.values[0]) == 4_000


@pytest.mark.parametrize("name", ["g.nt.gz", "g.ttl.gz", "g.tsv.gz", "g.nq.gz"])
def test_a_line_without_an_end_is_read_in_linear_time(tmp_path, name):
    with gzip.open(tmp_path / name, "wb") as file:
        for _ in range(200):
            file.write(bytes(MIB))
    limit = r":1: expected a line of at most 16,777,216 bytes|bytes that are no text|no triples"
    assert refused(tmp_path / name, limit) < 5
    if "tsv" not in name:
        assert refused(tmp_path / name, r":1: expected literals of less than 16 MiB|graph is empty", limits={"line": 1 << 30}) < 20


def test_the_line_that_is_too_long_is_named(tmp_path):
    text = "<http://x/a> <http://x/r> <http://x/b> .\n" * 5 + f'<http://x/a> <http://x/n> "{"x" * 200}" .\n'
    refused(write(tmp_path / "g.nt", text), r"g\.nt:6: expected a line of at most 100 bytes, found more", limits=Limits(line=100))
    write(tmp_path / "g.tsv", f"a\tr\tb\n{'x' * 200}\tr\tb\n")
    refused(tmp_path / "g.tsv", r"g\.tsv:2: expected a line of at most 100 bytes", limits=Limits(line=100))


@pytest.mark.parametrize("name", ["g.nt.gz", "g.csv.gz", "g.tsv.gz"])
def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, name):
    row = {"nt": "<http://x/a> <http://x/r> <http://x/b> .\n", "csv": "1,Rome,Italy\n", "tsv": "a\tr\tb\n"}[name.split(".")[1]]
    write(tmp_path / name, gzip.compress((row * 300_000).encode()))
    refused(tmp_path / name, "expected a file that unpacks to at most 1,000,000 bytes", limits=Limits(unpacked=1_000_000))


def test_a_table_that_does_not_fit_into_memory_is_refused(tmp_path):
    table = write(tmp_path / "g.csv", "id,name\n" + "1,Rome\n" * 300_000)
    refused(table, "expected a file of this format to have at most 1,000,000 bytes", limits=Limits(memory=1_000_000))
    assert (
        len(read_graph(write(tmp_path / "h.csv", gzip.compress(b"id,name\n1,Rome\n2,Oslo\n"))).entities) == 2
    )  # gzip without the ending
    write(tmp_path / "h.csv", gzip.compress(table.read_bytes()))
    refused(tmp_path / "h.csv", "at most 1,000,000 bytes", limits=Limits(memory=1_000_000))


@pytest.mark.parametrize("columns", [("id", "name"), ("head", "relation", "tail")])
def test_a_parquet_file_that_repeats_a_long_text_is_refused(tmp_path, columns):
    repeated = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100_000, np.int32)), ["x" * 50_000])
    pq.write_table(pa.table(dict.fromkeys(columns, repeated)), tmp_path / "bomb.parquet")
    assert (tmp_path / "bomb.parquet").stat().st_size < MIB
    assert refused(tmp_path / "bomb.parquet", "expected a Parquet table to have at most", limits=Limits(memory=100 * MIB)) < 5
    pq.write_table(pa.table({name: pa.array(["a", "b"]).dictionary_encode() for name in columns}), tmp_path / "g.parquet")
    assert len(read_graph(tmp_path / "g.parquet").entities) == 2


@pytest.mark.parametrize("nested", [False, True])
def test_parquet_that_repeats_a_long_text_is_never_unpacked(tmp_path, nested):
    text, path = "x" * (4 * MIB), tmp_path / "bomb.parquet"
    column = pa.array([[{"a": text}]] * 16 if nested else [text] * 16)
    with pq.ParquetWriter(path, pa.schema([("id", column.type)]), compression="zstd", dictionary_pagesize_limit=64 * MIB) as writer:
        for _ in range(2):
            writer.write_table(pa.table({"id": pa.chunked_array([column] * 20)}))
    del column
    assert path.stat().st_size < 10_000
    before = pa.default_memory_pool().max_memory()
    refused(path, "expected a Parquet table to have at most 2,147,483,648 bytes")
    assert pa.default_memory_pool().max_memory() < before + 256 * MIB


CELL = "x" * MIB
NESTED = {
    "large list": (pa.large_list(pa.string()), [CELL]),
    "list of fixed size": (pa.list_(pa.string(), 1), [CELL]),
    "list view": (pa.list_view(pa.string()), [CELL]),
    "map": (pa.map_(pa.string(), pa.string()), [("k", CELL)]),
    "map of lists of structs": (pa.map_(pa.string(), pa.list_(pa.struct([("a", pa.string())]))), [("k", [{"a": CELL}])]),
    "JSON": (pa.json_(), f'"{CELL}"'),
}


@pytest.mark.parametrize(("kind", "cell"), NESTED.values(), ids=list(NESTED))
def test_a_long_text_in_any_nested_column_of_parquet_counts_in_each_cell(tmp_path, kind, cell):
    path = tmp_path / "bomb.parquet"
    with pq.ParquetWriter(path, pa.schema([("id", kind)]), compression="zstd", dictionary_pagesize_limit=4 * MIB) as writer:
        for _ in range(4):
            writer.write_table(pa.table({"id": pa.array([cell] * 25, kind)}))
    assert path.stat().st_size < 50_000
    refused(path, "expected a Parquet table to have at most", limits=Limits(memory=50 * MIB))


def varint(number):
    """A number as Thrift writes it, which Parquet uses for its metadata."""
    number <<= 1
    return b"".join(
        bytes([number >> shift & 127 | (128 if number >> shift + 7 else 0)]) for shift in range(0, max(1, number.bit_length()), 7)
    )


def with_footer(data, change):
    """A Parquet file with another footer."""
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = change(data[start:-8])
    return data[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def test_parquet_whose_pages_hold_more_than_its_footer_says_is_never_unpacked(tmp_path):
    values = pa.ListArray.from_arrays(pa.array([0, 30_000_000], pa.int32()), pa.array(np.zeros(30_000_000, np.int64)))
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"id": ["a"], "n": values}), path, compression="zstd", data_page_size=1 << 30)
    said = pq.read_metadata(path).row_group(0).column(1)
    del values
    for change in (
        lambda footer: footer,
        lambda footer: footer.replace(varint(said.num_values), varint(1)).replace(varint(said.total_uncompressed_size), varint(8)),
    ):
        write(path, with_footer(path.read_bytes(), change))
        before = pa.default_memory_pool().bytes_allocated(), pa.default_memory_pool().max_memory()
        refused(path, "expected a Parquet table to have at most", limits=Limits(memory=200 * MIB))
        assert pa.default_memory_pool().max_memory() <= max(before[1], before[0] + 64 * MIB)


def test_parquet_with_a_damaged_footer_is_one_line_and_does_not_crash(tmp_path):
    """In a process of its own, which the parser would abort."""
    rows = pa.table({"id": ["a", "b"], "n": [1, 2]})
    pq.write_table(rows, tmp_path / "g.parquet")
    script = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_limits import varint, with_footer
from kgalign import DataError, read_graph

path = Path({str(tmp_path / "g.parquet")!r})
data, refused = path.read_bytes(), 0
for at in range(int.from_bytes(data[-8:-4], "little")):
    for number in (0, 1, 1 << 40):
        path.write_bytes(with_footer(data, lambda footer: footer[:at] + varint(number) + footer[at + 1 :]))
        try:
            read_graph(path)
        except DataError as error:
            refused += 1
            assert str(error).startswith(str(path)), error
print(refused)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 100


def parquet_with_bad_text(path, columns):
    """A table whose text is not UTF-8, which no writer of Arrow checks."""
    bad = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 2, 4], np.int32)), pa.py_buffer(b"\xff\xfeok")])
    pq.write_table(pa.table(dict.fromkeys(columns, bad)), path)
    return path


@pytest.mark.parametrize("columns", [("id", "name"), ("head", "relation", "tail")])
def test_parquet_whose_text_is_not_utf_8_is_one_line(tmp_path, columns):
    refused(parquet_with_bad_text(tmp_path / "g.parquet", columns), "expected a Parquet table, but some of its text is not UTF-8")


def test_links_and_candidates_in_damaged_parquet_are_one_line(tmp_path):
    write(tmp_path / "g.tsv", "a\tr\tb\n")
    bad = parquet_with_bad_text(tmp_path / "links.parquet", ("source", "target", "score"))
    with pytest.raises(DataError, match=r"links\.parquet: expected a Parquet table, but some of its text is not UTF-8"):
        read(tmp_path / "g.tsv", tmp_path / "g.tsv", seeds=bad)
    with pytest.raises(DataError, match=r"links\.parquet: expected a Parquet table, but some of its text is not UTF-8"):
        read_candidates(bad)
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"source": ["a"], "target": ["b"], "score": ["much"]}), whole)
    with pytest.raises(DataError, match=r"whole\.parquet:2: expected a number as score, found 'much'"):
        read_candidates(whole)
    for cut in (10, 100, -20):
        write(tmp_path / "cut.parquet", whole.read_bytes()[:cut])
        with pytest.raises(DataError, match=r"cut\.parquet: "):
            read_candidates(tmp_path / "cut.parquet")


def repeated_in(path, column):
    """Repeats the rows of a Parquet file until they would take gigabytes, with one long text in each."""
    table = pq.read_table(path)
    table = pa.concat_tables([table.slice(0, 1)] * 20_000).combine_chunks()
    at, texts = table.column_names.index(column), pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, np.int32)), ["x" * MIB])
    pq.write_table(table.set_column(at, column, texts), path, compression="zstd", dictionary_pagesize_limit=4 * MIB)
    assert path.stat().st_size < MIB


def test_a_parquet_file_of_a_run_that_describes_gigabytes_is_one_line(tmp_path, capsys):
    run = align_pair(tmp_path)
    repeated_in(run / "evidence.parquet", "decided_by")
    assert refused_command(capsys, "explain", run, "Rome").endswith(
        "evidence.parquet: expected the evidence of a run, but it takes more than 2,147,483,648 bytes; the file is damaged, so align again"
    )
    repeated_in(run / "candidates.parquet", "target")
    newer = tmp_path / "newer.tsv"
    newer.write_text((tmp_path / "left.tsv").read_text() + "Bern\tcapital of\tSwitzerland\n")
    assert "candidates.parquet: cannot be read (it takes more than" in refused_command(capsys, "update", run, "--source", newer)
    with pytest.raises(DataError, match=r"candidates\.parquet: expected the candidates of a run, but it takes more than"):
        ReviewSession.open(run)


def write_npz(path, **arrays):
    np.savez_compressed(path, **arrays)
    return path


def test_an_npz_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = write_npz(tmp_path / "bomb.npz", scores=np.zeros((2_000, 5_000)))
    assert path.stat().st_size < MIB
    with pytest.raises(DataError, match=r"bomb\.npz: expected arrays of at most 50,000,000 bytes, found more; .* `limits` memory="):
        read_candidates(path, limits=Limits(memory=50_000_000))
    with pytest.raises(DataError, match=r"small\.npz: expected arrays of at most 2,147,483,648 bytes"):
        read_candidates(write_npz(tmp_path / "small.npz", scores=np.zeros((1 << 10, 1 << 16), np.uint8)))
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 20, 1 << 20)})
    with zipfile.ZipFile(tmp_path / "lie.npz", "w") as archive:
        archive.writestr("scores.npy", header.getvalue() + bytes(64))
    began = time.process_time()
    with pytest.raises(DataError, match=r"lie\.npz: expected arrays of at most 2,147,483,648 bytes"):
        read_candidates(tmp_path / "lie.npz")
    assert time.process_time() - began < 1


NO_ARRAYS = {
    "text": {"scores": np.array([["a", "b"]])},
    "text for targets": {"scores": np.ones((1, 2)), "targets": np.array([["a", "b"]])},
    "objects": {"scores": np.array([[None, 1]], object)},
    "dates": {"scores": np.array([["2020-01-01"]], "datetime64[D]")},
    "pairs of numbers": {"scores": np.ones((1, 1), complex)},
    "records": {"scores": np.ones((1, 1), [("a", float)])},
    "another name": {"score": np.ones((1, 1))},
    "one number": {"scores": np.float64(1)},
    "a list": {"scores": np.ones(3)},
    "too many targets": {"scores": np.ones((1, 2)), "targets": np.ones((1, 3), int)},
}


@pytest.mark.parametrize("name", NO_ARRAYS)
def test_arrays_that_are_no_candidates_are_one_line(tmp_path, name):
    with pytest.raises(DataError, match=r"^\S+c\.npz: expected"):
        read_candidates(write_npz(tmp_path / "c.npz", **NO_ARRAYS[name]))


def test_damaged_npz_files_are_one_line(tmp_path):
    whole = write_npz(tmp_path / "c.npz", scores=np.random.default_rng(0).random((20, 20))).read_bytes()
    for place in range(0, len(whole), 37):
        for data in (whole[:place], whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :]):
            with suppress(DataError):  # and no other error
                read_candidates(write(tmp_path / "d.npz", data))


def test_an_xlsx_bomb_is_refused(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in range(100):
        book.active.append([f"id{row}", "name"])
    book.save(tmp_path / "g.xlsx")
    assert len(read_graph(tmp_path / "g.xlsx").entities) == 100
    refused(tmp_path / "g.xlsx", "expected an XLSX table to have at most 10,000 bytes", limits=Limits(memory=10_000))
    with zipfile.ZipFile(tmp_path / "g.xlsx", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zeros", bytes(300 * MIB))
    refused(tmp_path / "g.xlsx", "expected an XLSX table to have at most", limits=Limits(memory=100 * MIB))


def test_damaged_xlsx_files_are_one_line(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    openpyxl.Workbook().save(tmp_path / "g.xlsx")
    whole = (tmp_path / "g.xlsx").read_bytes()
    directory = whole.index(b"PK\x01\x02")  # whose entries name the version that is needed, the flags and the file
    for place in (*range(0, len(whole), 211), *range(directory, directory + 60)):
        with suppress(DataError):  # and no other error
            read_graph(write(tmp_path / "d.xlsx", whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :]))


@pytest.mark.parametrize("name", ["g.json", "g.jsonl"])
def test_deep_json_tables_are_one_line(tmp_path, name):
    refused(write(tmp_path / name, "[" * 100_000), r"g\.jsonl?:1: expected")
    refused(write(tmp_path / name, '{"id": ' + "[" * 100_000), r"g\.jsonl?:1: expected")


def test_messages_name_the_option_of_commands_that_have_it(tmp_path, capsys):
    run = align_pair(tmp_path)
    gold = write(tmp_path / "gold.tsv", "Paris\tParis\t1.0\n")
    assert (
        "set for instance --limit memory=20\n"
        in refused_command(capsys, "evaluate", run, "--gold", gold, "--limit", "memory=10") + "\n"
    )
    assert command("evaluate", run, "--gold", gold, "--limit", "memory=100") == 0
    with (tmp_path / "left.tsv").open("a") as file:
        file.write("x" * (17 * MIB) + "\tin\tItaly\n")
    again = "if you trust it, align again with, for instance, --limit line=33554432"
    assert refused_command(capsys, "merge", run, "-o", tmp_path / "all.nt", "--changed").endswith(again)
    assert f"the graphs cannot be read again ({tmp_path / 'left.tsv'}:" in (
        said := refused_command(capsys, "explain", run, "Atlantis", "--changed")
    )
    assert said.endswith(f"{again})")
    again = again.replace("--limit", "`limits`")
    for read_again in (lambda: read_task(run, changed=True), lambda: update(run), lambda: ReviewSession.open(run, changed=True)):
        with pytest.raises(DataError, match=f"{again}$"):
            read_again()
    assert "no such file" in refused_command(capsys, "--", "info", tmp_path / "none.nt")


def test_the_documentation_lists_every_limit():
    page = (Path(__file__).parents[1] / "docs" / "files.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d,]+(?: [MG]iB)?) \|", page, re.MULTILINE))
    values = {
        name: int(text.split()[0].replace(",", "")) * {"M": MIB, "G": 1024 * MIB}.get(text[-3:-2], 1) for name, text in rows.items()
    }
    assert values == {field.name: getattr(Limits(), field.name) for field in fields(Limits)}


def test_limits_are_checked():
    with pytest.raises(OptionError, match="line=0: expected 1 or more"):
        Limits(line=0)
    with pytest.raises(OptionError, match="xml_levels=20001: expected 20000 or less"):
        Limits(xml_levels=20_001)
    with pytest.raises(OptionError, match="`limits` lines: expected one of line, json_levels"):
        read_graph("g.nt", limits={"lines": 5})


def test_messages_show_control_characters_and_are_never_long(tmp_path):
    path = write(tmp_path / "g.nt", "<http://x/a> <http://x/r> <http://x/b> .\n\x1b[31mred\x1b]0;title\x07 \x9b1m\u202e\r\n")
    graph = read_graph(path)
    assert graph.record["first broken"][0].isprintable()
    with pytest.raises(DataError, match=r"\\x1b\[31mred") as error:
        read_graph(path, strict=True)
    assert str(error.value).isprintable()
    with pytest.raises(OptionError, match=r"`labels` http://x/aa.* \[\.\.\.\] ") as found:
        read_graph(path, labels=["http://x/" + "a" * 3_000_000])
    assert len(str(found.value)) == 1000


def run(folder, *arguments):
    command = [sys.executable, "-m", "kgalign", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
def test_the_command_line_raises_limits_and_a_run_remembers_them(tmp_path):
    write(tmp_path / "g.tsv", "Rome\tin\tItaly\nOslo\tin\tNorway\n")
    write(tmp_path / "long.tsv", f"Rome\tin\tItaly\n{'x' * 300}\tin\tNorway\n")
    done = run(tmp_path, "info", "long.tsv", "--limit", "line=100")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "kgalign: long.tsv:2: expected a line of at most 100 bytes, found more; if you trust it, set for instance --limit line=200\n"
    )
    assert run(tmp_path, "info", "long.tsv", "--limit", "line=1KiB").returncode == 0
    done = run(tmp_path, "align", "g.tsv", "long.tsv", "-o", "run", "--limit", "line=1KiB", "--limit", "memory=1GiB")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert report["options"]["read"]["limits"] == {"line": 1024, "memory": 1 << 30}
    for bad in ("lines=5", "line", "line=x", "line=1TiB", "line=-1"):
        done = run(tmp_path, "info", "g.tsv", "--limit", bad)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"--limit {bad}: expected NAME=VALUE" in done.stderr


@pytest.mark.slow
def test_no_text_of_a_file_steers_the_terminal(tmp_path):
    write(tmp_path / "g.nt", b'<http://x/a> <http://x/n> "\x1b[31mred" .\n<http://x/b> <http://x/n> "blue" .\n\x1b]0;title\x07\n')
    done = run(tmp_path, "align", "g.nt", "g.nt", "-o", "run")
    assert "\x1b" not in done.stderr
    assert "\\x1b]0;title\\x07" in done.stderr
    done = run(tmp_path, "info", "g.nt", "--strict")
    assert ("\x1b" in done.stderr, "\\x1b" in done.stderr) == (False, True)


def test_a_table_of_one_line_and_one_of_many_small_cells_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,name\n1," + "x" * 2000 + "\n2,y\n", "utf-8")
    with pytest.raises(DataError, match=r"table\.csv:2: expected a line of at most 1,000 bytes"):
        read_graph(path, limits=Limits(line=1000))
    path.write_text("id,name\n" + "".join(f"{i},n{i}\n" for i in range(5000)), "utf-8")
    with pytest.raises(DataError, match=r"table\.csv: expected a table to have at most 500,000 bytes"):
        read_graph(path, limits=Limits(memory=500_000))
    assert len(read_graph(path, limits=Limits(line=12)).entities) == 5000


def test_short_rows_of_a_wide_table_are_refused_before_they_are_filled_up(tmp_path):
    wide = write(tmp_path / "wide.csv", "id,name" + "".join(f",c{i}" for i in range(20_000)) + "\n" + "1,Rome\n" * 10_000)
    assert refused(wide, r"wide\.csv: expected a table of 20,002 columns to have at most 2,147,483,648 bytes") < 10
    objects = write(tmp_path / "wide.jsonl", "".join(f'{{"k{i}": 1}}\n' for i in range(4_000)))
    refused(objects, r"wide\.jsonl: expected a table of \d,\d{3} columns to have at most", limits=Limits(memory=100 * MIB))
    graph = read_graph(write(tmp_path / "g.csv", "id,name,city,year\n1,Rome,a,1\n2,Oslo\n3,Bern,b,2\n4,Paris,c,3\n"))
    assert len(graph.entities) == 4


def test_json_counts_with_its_values(tmp_path):
    values = "[]," * (4 * MIB)
    refused(
        write(tmp_path / "g.json", f"[{values}[]]"),
        r"g\.json: expected a table to have at most 268,435,456 bytes",
        limits=Limits(memory=256 * MIB),
    )
    line = f'{{"id": "a", "v": [{values}[]]}}\n'
    refused(
        write(tmp_path / "g.jsonl", '{"id": "b"}\n' + line),
        r"g\.jsonl:2: expected a line of at most 1,048,576 bytes",
        limits=Limits(line=MIB),
    )
    one = "[" + ",".join(f'{{"id": "a{i}", "name": "{"Rome" * 100}{i}"}}' for i in range(50)) + "]"
    assert len(read_graph(write(tmp_path / "g.json", one), limits=Limits(line=1000)).entities) == 50


def test_a_sentence_without_an_end_is_refused(tmp_path):
    path = tmp_path / "graph.ttl"
    path.write_text("<http://x/1> <http://x/p> " + "<http://x/2>,\n" * 100_000 + "<http://x/3> .\n", "utf-8")
    with pytest.raises(DataError, match=r"graph\.ttl:1: expected a sentence to have at most 1,000,000 bytes"):
        read_graph(path, limits=Limits(memory=1_000_000))
    assert len(read_graph(path).triples) == 2


def test_the_value_that_a_message_offers_is_enough(tmp_path):
    path = tmp_path / "long.tsv"
    path.write_text("a\tb\tc\n" + "x" * 150 + "\tb\tc\n", "utf-8")
    with pytest.raises(DataError, match="`limits` line=200"):
        read_graph(path, limits=Limits(line=100))
    assert len(read_graph(path, limits=Limits(line=200)).triples) == 2


def with_many(beginning, each, end=""):
    """A document of more than 1 MiB, half of which is in its beginning."""
    return beginning + "".join(each.format(number) for number in range((1 << 19) // len(each))) + end


LONG_IRI = "http://x/" + "y" * (1 << 19) + "/"
XML_BEGINS = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="{}" xml:base="{}">\n'
EXPANDED = {
    "prefix.ttl": with_many(f"@prefix a: <{LONG_IRI}> .\n", "a:{0} a:1 a:1 .\n"),
    "prefix.trig": with_many(f"@prefix a: <{LONG_IRI}> .\n", "a:{0} a:1 a:1 .\n"),
    "base.ttl": with_many(f"@base <{LONG_IRI}> .\n", "<{0}> <1> <1> .\n"),
    "datatype.ttl": with_many(f"@prefix a: <{LONG_IRI}> .\n", "<http://x/a> <http://x/b> '{0}'^^a:1 .\n"),
    "broken.ttl": with_many(f"@prefix a: <{LONG_IRI}> .\na:1 a:2 'c .\n", "a:{0} a:1 a:1 .\n"),
    "prefix.rdf": with_many(XML_BEGINS.format(LONG_IRI, "http://x/"), '<a:b{0} rdf:about="{0}"/>\n', "</rdf:RDF>"),
    "base.rdf": with_many(XML_BEGINS.format("http://x/", LONG_IRI), '<a:b rdf:about="{0}"/>\n', "</rdf:RDF>"),
    "broken.rdf": with_many(XML_BEGINS.format(LONG_IRI, "http://x/"), '<a:b{0} rdf:about="{0}"/>\n'),
    "base.jsonld": with_many(
        f'{{"@context": {{"@base": "{LONG_IRI}"}}, "@graph": [', '{{"@id": "{0}", "http://x/1": 2}},\n', "{}]}"
    ),
    "vocabulary.jsonld": with_many(f'{{"@context": {{"@vocab" : "{LONG_IRI}x"}}, "@graph": [', '{{"b": "{0}"}},\n', "{}]}"),
    "escaped.jsonld": with_many(f'{{"@context": {{"@\\u0062ase": "{LONG_IRI}x"}}, "@graph": [', '{{"@id": "{0}"}},\n', "{}]}"),
    "prefix.jsonld": with_many(f'{{"@context": {{"a": "{LONG_IRI}"}}, "@graph": [', '{{"@id": "a:{0}", "a:1": 2}},\n', "{}]}"),
}


@pytest.mark.parametrize("name", EXPANDED)
def test_long_prefixes_and_bases_of_many_iris_are_refused(tmp_path, name):
    path = write(tmp_path / name, EXPANDED[name])
    assert refused(path, "that make a document larger by at most 100 times its size, found more; .* `limits` expansion=200$") < 5


STATEMENTS = {  # with a value, and with an IRI and a value
    "ttl": ('<http://x/{}> <http://x/n> "b" .\n', '<http://x/a> <http://x/p> <{}> ; <http://x/n> "{}" .\n'),
    "rdf": (
        '<rdf:Description rdf:about="http://x/{}"><x:n>b</x:n></rdf:Description>\n',
        '<rdf:Description rdf:about="http://x/a"><x:p rdf:resource="{}"/><x:n>{}</x:n></rdf:Description>\n',
    ),
    "jsonld": (
        '{{"@id": "http://x/{}", "http://x/n": "b"}},\n',
        '{{"@id": "http://x/a", "http://x/p": {{"@id": "{}"}}, "http://x/n": "{}"}}\n',
    ),
}


@pytest.mark.parametrize("ending", ["ttl", "trig", "rdf", "jsonld"])
def test_long_iris_and_texts_that_are_no_prefixes_are_read(tmp_path, ending):
    short, long = STATEMENTS["ttl" if ending == "trig" else ending]
    text = "".join(map(short.format, range(20_000))) + long.format("data:image/png;base64," + "y" * 300_000, "z" * 300_000)
    whole = {"rdf": RDF_XML.format("", text), "jsonld": f"[{text}]"}.get(ending, text)
    assert len(read_graph(write(tmp_path / f"g.{ending}", whole), strict=True).attributes.values) == 20_001
