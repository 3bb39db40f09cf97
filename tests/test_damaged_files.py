"""What a damage costs: everything before it stays, and no text inside a literal becomes a statement."""

import bz2
import gzip
import random

import pyarrow as pa
import pytest

from kgalign import DataError, read_graph

PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": lambda data: pa.compress(data, "zstd", asbytes=True)}
EVIL = "x:evil x:r x:evil ."


def rows(count, seed=0):
    """Lines that do not compress well, so that a damage in the middle leaves many of them."""
    draw = random.Random(seed)
    return [f'<http://x/{i}> <http://x/n> "{draw.getrandbits(64):x}" .\n' for i in range(count)]


def write_turtle(path, text):
    path.write_text(f"@prefix x: <http://x/> .\n{text}", "utf-8")
    return path


def texts(graph):
    return list(graph.attributes.values)


@pytest.mark.parametrize("ending", PACKED)
def test_every_whole_line_before_the_end_of_a_cut_archive_is_kept_and_counted(tmp_path, ending):
    lines = rows(60_000)
    packed = PACKED[ending]("".join(lines).encode())
    path = tmp_path / f"g.nt{ending}"
    path.write_bytes(packed[: len(packed) // 2])
    graph = read_graph(path)
    kept = len(graph.entities)
    assert 1_000 < kept < 60_000
    assert texts(graph) == [line.split('"')[1] for line in lines[:kept]]
    assert graph.record["broken"] == 1
    assert f"what came before it is kept: {kept:,} whole lines" in graph.record["first broken"][0]
    if ending == ".gz":  # which unpacks byte by byte, so that the end of the file costs less than a line and a bit
        assert kept > 0.49 * 60_000
    with pytest.raises(DataError, match=r"g\.nt\.\w+: expected a whole \w+ file"):
        read_graph(path, strict=True)


def test_every_whole_line_before_a_damaged_byte_is_kept(tmp_path):
    lines = rows(3_000)
    first, second = (gzip.compress("".join(part).encode()) for part in (lines[:1_000], lines[1_000:]))
    path = tmp_path / "g.nt.gz"
    path.write_bytes(first + second[:40] + bytes(64) + second[104:])
    graph = read_graph(path)
    assert len(graph.entities) >= 1_000
    assert texts(graph)[:1_000] == [line.split('"')[1] for line in lines[:1_000]]


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("stray", [b"x", b"\x1f", b"something else"])
def test_bytes_after_a_whole_archive_lose_nothing(tmp_path, ending, stray):
    lines = rows(20)
    path = tmp_path / f"g.nt{ending}"
    path.write_bytes(PACKED[ending]("".join(lines).encode()) + stray)
    graph = read_graph(path)
    assert (len(graph.entities), graph.record["broken"]) == (20, 1)
    assert "20 whole lines" in graph.record["first broken"][0]


def test_archives_of_several_members_and_with_padding_are_whole(tmp_path):
    lines = rows(20)
    parts = [gzip.compress("".join(part).encode()) for part in (lines[:7], [], lines[7:])]
    (tmp_path / "g.nt.gz").write_bytes(b"".join(parts) + bytes(5000))
    assert len(read_graph(tmp_path / "g.nt.gz", strict=True).entities) == 20
    (tmp_path / "g.nt.bz2").write_bytes(bz2.compress("".join(lines[:7]).encode()) + bz2.compress("".join(lines[7:]).encode()))
    assert len(read_graph(tmp_path / "g.nt.bz2", strict=True).entities) == 20


def test_a_table_in_a_cut_archive_keeps_its_whole_lines(tmp_path):
    draw = random.Random(0)
    table = "id,name\n" + "".join(f"e{i},{draw.getrandbits(64):x}\n" for i in range(20_000))
    packed = gzip.compress(table.encode())
    (tmp_path / "g.csv.gz").write_bytes(packed[: len(packed) // 2])
    graph = read_graph(tmp_path / "g.csv.gz")
    kept = len(graph.entities)
    assert kept > 5_000
    assert f"what came before it is kept: {kept + 1:,} whole lines" in graph.record["first broken"][0]
    with pytest.raises(DataError, match=r"g\.csv\.gz: expected a whole gzip file"):
        read_graph(tmp_path / "g.csv.gz", strict=True)


def test_links_in_a_cut_archive_are_refused_in_one_line(tmp_path):
    from kgalign import read

    (tmp_path / "g.tsv").write_text("a\tr\tb\n")
    (tmp_path / "seeds.tsv.gz").write_bytes(gzip.compress(b"a\tb\n" * 999)[:-9])
    with pytest.raises(DataError, match=r"seeds\.tsv\.gz: expected a whole gzip file"):
        read(tmp_path / "g.tsv", tmp_path / "g.tsv", seeds=tmp_path / "seeds.tsv.gz")


LONG = f'x:a x:n """one .\n{EVIL}\n"""@en ; x:r x:b .\n'
BROKEN = {
    "a prefix that is not declared": "x:q y:r x:c .\n",
    "an escape that there is not": 'x:q x:n "\\q" .\n',
    "an open bracket": "x:q x:r [ x:r x:z .\n",
    "rubbish": "%% what .\n",
}


@pytest.mark.parametrize("quotes", ['"""', "'''"])
@pytest.mark.parametrize("name", BROKEN)
def test_no_text_of_a_literal_is_a_statement_beside_a_broken_sentence(tmp_path, name, quotes):
    long = LONG.replace('"""', quotes) + f"x:c x:n {quotes}{chr(10).join([EVIL] * 300)}\n{quotes} .\n"
    path = write_turtle(tmp_path / "g.ttl", f"{long}{BROKEN[name]}{long.replace('x:a', 'x:d')}x:e x:r x:b .\n")
    graph = read_graph(path)
    assert "http://x/evil" not in graph.entities
    assert {"http://x/a", "http://x/c", "http://x/d", "http://x/e"} <= set(graph.entities)
    assert graph.record["broken"] == 1


@pytest.mark.parametrize("ending", [".ttl", ".trig"])
@pytest.mark.parametrize("bad", ["y:n", "x:n x:o x:o", "x:n \\q"])
def test_no_text_of_a_literal_in_a_broken_sentence_is_a_statement(tmp_path, ending, bad):
    text = f'x:a {bad} """one .\n{EVIL}\n""" .\nx:b x:r x:c .\n'
    graph = read_graph(write_turtle(tmp_path / f"g{ending}", f"x:first x:r x:c .\n{text}"))
    assert "http://x/evil" not in graph.entities
    assert "http://x/b" in graph.entities


@pytest.mark.parametrize("ending", [".ttl", ".trig"])
@pytest.mark.parametrize("escape", ["\\q", "\\uD800", "\\ud"])
def test_no_text_of_a_literal_with_a_broken_escape_is_a_statement(tmp_path, ending, escape):
    text = f'x:first x:r x:c .\nx:a x:n """one {escape} .\n{EVIL}\n""" .\nx:b x:r x:c .\n'
    graph = read_graph(write_turtle(tmp_path / f"g{ending}", text))
    assert "http://x/evil" not in graph.entities
    assert "http://x/first" in graph.entities
    assert graph.record["broken"] >= 1


def test_a_broken_sentence_of_trig_costs_no_other_one(tmp_path):
    text = (
        "x:g { x:a x:r x:b . x:q y:r x:b .\nx:c x:r x:b }\n"
        'GRAPH <http://x/g.2>\n{ x:d x:n "{ } ." ;\n  x:r x:b {| x:s x:t |} .\n  x:e x:r [ x:r x:b ] }\n'
        "{ x:f x:r x:b. }\n_:g.3 { x:h x:r x:b . } x:i x:r x:b .\n"
    )
    graph = read_graph(write_turtle(tmp_path / "g.trig", text))
    assert {f"http://x/{name}" for name in "bcdefhi"} <= set(graph.entities)
    assert graph.record["broken"] == 1
    assert "g.trig:2: expected TriG" in graph.record["first broken"][0]


def test_a_literal_without_its_last_quotes_costs_no_more_than_up_to_the_next_one(tmp_path):
    text = f'x:a x:n """never closed .\nx:lost x:r x:b .\n{LONG}x:d x:r x:b .\n{LONG.replace("x:a", "x:e")}'
    graph = read_graph(write_turtle(tmp_path / "g.ttl", f"x:first x:r x:b .\n{text}"))
    assert "http://x/evil" not in graph.entities
    assert {"http://x/first", "http://x/d", "http://x/e"} <= set(graph.entities)
    (problem,) = graph.record["first broken"]
    assert 'g.ttl:3: expected Turtle, found \'x:a x:n """never closed' in problem
    assert problem.endswith("(a literal is not closed); lines 3 to 7 could not be read")
    with pytest.raises(DataError, match=r"g\.ttl:3: expected Turtle, found .*a literal is not closed"):
        read_graph(tmp_path / "g.ttl", strict=True)


def test_a_file_that_ends_inside_a_literal_loses_that_literal(tmp_path):
    text = f'x:first x:r x:b .\nx:a x:n """cut off .\n{EVIL}\n'
    graph = read_graph(write_turtle(tmp_path / "g.ttl", text))
    assert graph.entities == ["http://x/first", "http://x/b"]
    assert "lines 3 to 4 could not be read" in graph.record["first broken"][0]
    packed = gzip.compress((tmp_path / "g.ttl").read_bytes())
    (tmp_path / "g.ttl.gz").write_bytes(packed[:-6])
    assert read_graph(tmp_path / "g.ttl.gz").entities == ["http://x/first", "http://x/b"]


@pytest.mark.parametrize("strict", [False, True])
def test_a_literal_that_is_larger_than_many_blocks_is_one_literal(tmp_path, strict):
    text = f"{EVIL}\n" * 200_000  # 4 MB
    path = write_turtle(tmp_path / "g.ttl", f'x:a x:n """{text}""" .\nx:b x:r ( """{EVIL}\n""" """{EVIL}\n""" x:a ) .\n')
    graph = read_graph(path, strict=strict, fold=False)
    assert "http://x/evil" not in graph.entities
    assert max(map(len, texts(graph))) == len(text)
    assert graph.record["broken"] == 0


def test_comments_iris_and_short_literals_do_not_hide_where_a_sentence_ends(tmp_path):
    text = (
        "x:a x:r # a comment that ends in a dot .\n  <http://x/b#c> .\n"
        'x:b x:n "\'\'\'" , \'it \\\' is\' , """say \\""" now .\n""" . # another one """\n'
        "x:q y:r x:c .\n"
        "x:c x:n '''a \" b ''' .\n<http://x/d'''> x:r x:e .\n"
    )
    graph = read_graph(write_turtle(tmp_path / "g.ttl", text))
    assert graph.record["broken"] == 1
    assert {"http://x/a", "http://x/b", "http://x/c", "http://x/d'''"} <= set(graph.entities)
    assert sorted(texts(graph)) == sorted(["'''", "it ' is", 'say """ now .\n', 'a " b '])


def test_prefixes_of_sparql_hold_after_a_broken_sentence(tmp_path):
    (tmp_path / "g.ttl").write_text("PREFIX x: <http://x/>\nx:q y:r x:c .\nx:a x:r x:b .\n")
    assert read_graph(tmp_path / "g.ttl").entities == ["http://x/a", "http://x/b"]


@pytest.mark.parametrize("ending", [".tsv", ".nt", ".csv"])
def test_carriage_returns_alone_end_lines(tmp_path, ending):
    rows = {".tsv": b"a\tr\tb\rc\tr\td\r", ".csv": b"a,r,b\rc,r,d\r", ".nt": b"<a:a> <a:r> <a:b> .\r<a:c> <a:r> <a:d> .\r"}
    (tmp_path / f"g{ending}").write_bytes(rows[ending])
    assert len(read_graph(tmp_path / f"g{ending}").triples) == 2
