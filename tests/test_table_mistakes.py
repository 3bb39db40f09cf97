"""Mistakes that users make with tables: each is one clear line and exit 2, or is simply understood."""

import gzip
import json
import re
import sys

import pyarrow as pa
import pyarrow.parquet
import pytest
from commands import command

from kgalign import read_graph

FILMS = "id,title,director,year\n1,Alien,Ridley Scott,1979\n2,Brazil,Terry Gilliam,1985\n3,Casablanca,Michael Curtiz,1942\n"
TITLES = ["Alien", "Brazil", "Casablanca"]


@pytest.fixture
def kgalign(tmp_path, monkeypatch, capsys):
    """Runs a command in the folder of the test: its exit status, what it printed, and its lines on stderr."""

    def run(*arguments):
        status = command(*arguments)
        printed = capsys.readouterr()
        return status, printed.out, printed.err.splitlines()

    monkeypatch.chdir(tmp_path)
    return run


def excel(path, *sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def parquet(path):
    pa.parquet.write_table(pa.table({"id": [1, 2], "title": ["Alien", "Brazil"]}), path)
    return path.read_bytes()


REFUSED = {
    "no such file": ("nowhere.csv", None, r"nowhere\.csv: no such file or folder; expected .*a table \(csv"),
    "an empty file": ("films.csv", b"", "films.csv: the graph is empty; expected a header and at least one row"),
    "blank lines alone": ("films.csv", b"\n\n  \n", "films.csv: the graph is empty; expected a header"),
    "a header alone": (
        "films.csv",
        b"id,title,director\n",
        "films.csv: the graph is empty; expected rows below the header id, title",
    ),
    "a separator that nobody uses": (
        "films.csv",
        FILMS.replace(",", "^").encode(),
        "films.csv:1: expected several columns with , ; ",
    ),
    "one column": ("films.csv", b"title\nAlien\nBrazil\n", "films.csv:1: expected several columns .* found one: 'title'"),
    "a page of HTML": (
        "films.csv",
        b"<!DOCTYPE html>\n<html><body>404</body></html>",
        "films.csv:1: expected a table, found a page of",
    ),
    "XML": ("films.csv", b'<?xml version="1.0"?>\n<films><film/></films>', "films.csv:1: expected a table, found XML"),
    "bytes": ("films.csv", bytes(range(256)) * 20, "films.csv: expected a table .*found bytes that are no text"),
    "a PDF": ("films.csv", b"%PDF-1.7\nabc", "films.csv: expected a table, found a PDF: export the table as CSV"),
    "an old Excel file": ("films.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 9, "films.xls: .* old Excel .*save it as XLSX or CSV"),
    "a ZIP archive": ("films.xlsx", b"PK\x03\x04 cut off", "films.xlsx: expected an XLSX table, but it is cut off or damaged"),
    "a quote that is never closed": (
        "films.csv",
        FILMS.replace("Brazil", '"Brazil').encode(),
        r"films\.csv:3: a quote .*never closed",
    ),
    "a quote that swallows rows": (
        "films.csv",
        (FILMS.replace("Alien", '"Alien') + FILMS.partition("\n")[2] * 2 + '9,"""M""",Fritz Lang,1931\n').encode(),
        r"films\.csv:2: a quote that begins in this row is not closed before the next rows; close it",
    ),
    "gzip that is cut off": ("films.csv.gz", gzip.compress(FILMS.encode() * 99)[:10], "films.csv.gz: expected a whole gzip file"),
    "gzip that is none": ("films.csv.gz", FILMS.encode(), "films.csv.gz: expected a whole gzip file"),
    "Parquet that is none": ("films.parquet", FILMS.encode(), "films.parquet: expected a Parquet table, .*name it .csv"),
    "Parquet that is cut off": (
        "films.parquet",
        b"PAR1" + b"\0" * 99,
        "films.parquet: expected a Parquet table, but .*write it again",
    ),
    "one JSON object": (
        "films.json",
        b'{\n  "films": 3\n}\n',
        "films.json:1: expected a JSON object on each line, or one array of objects",
    ),
    "JSON that is broken": (
        "films.jsonl",
        b'{"id": 1, "title": "Alien"}\n{"id": 2, "tit\n',
        "films.jsonl:2: expected a JSON object on",
    ),
    "JSON of numbers": ("films.json", b"[1, 2]", "films.json:1: expected a JSON object with a field for each column, found 1"),
    "cells in no column": (
        "films.csv",
        b"id,title\n" + b"1,a,b,c,d\n" * 9,
        r"films\.csv:2: expected 2 cells, found 5, as in 9 of 9 rows",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_mistake_is_one_clear_line(tmp_path, kgalign, mistake):
    name, content, message = REFUSED[mistake]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    (tmp_path / "other.csv").write_text(FILMS)
    status, printed, lines = kgalign("align", name, "other.csv", "-o", "run")
    assert (status, printed, lines[0]) == (2, "", f"reading {name} and other.csv")
    assert len(lines) == 2
    assert re.search(message, lines[1]), lines[1]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--id-source", "key"], "films.csv: no column is called 'key'; there are id, title, director, year"),
        (["--id-target", "id"], "--id-target goes with two graphs: --id-source names the column of one"),
        (["--table", "--triples"], "--table and --triples exclude each other"),
        (["--triples", "--id-source", "id"], "films.csv: --id-source names a column of a table with an entity on each row"),
        (["--label", "name"], "--label name: no literal has this property; there are title, director, year"),
        (["--lang", "fr"], "--lang fr: no name is in this language; there are none (100%)"),
    ],
)
def test_options_that_do_not_fit_a_table_are_refused(tmp_path, kgalign, options, message):
    (tmp_path / "films.csv").write_text(FILMS)
    status, _, lines = kgalign("info", "films.csv", *options)
    assert (status, len(lines)) == (2, 1)
    assert lines[0].startswith(f"kgalign: {message}")


def test_options_for_tables_are_refused_for_rdf(tmp_path, kgalign):
    (tmp_path / "g.ttl").write_text('<http://x/a> <http://x/name> "Anna" .\n')
    for options, message in (
        (["--table"], "g.ttl: --table or --triples says how to read a table, and this is none"),
        (["--id-source", "id"], "g.ttl: --id-source names a column of a table with an entity on each row, and this is none"),
    ):
        status, _, lines = kgalign("info", "g.ttl", *options)
        assert (status, lines) == (2, [f"kgalign: {message}"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Brazil,", "Brazil,,,"), r"films.csv:3: expected 4 cells, found 6"),
        ((",1985", ""), r"films.csv:3: expected 4 cells, found 3"),
        (("3,Casa", "2,Casa"), r"films.csv:4: expected an id that no other row has, found '2' again"),
        (("2,Bra", ",Bra"), r"films.csv:3: expected an id in the column id, found none"),
        (("Brazil", "Br\xe9sil"), r"films.csv:3: expected UTF-8, found the byte 0xe9"),
    ],
)
def test_strict_refuses_what_is_broken(tmp_path, kgalign, change, message):
    (tmp_path / "films.csv").write_bytes(FILMS.replace(*change).encode("latin-1"))
    status, _, lines = kgalign("info", "films.csv", "--strict", "--id-source", "id")
    assert (status, len(lines)) == (2, 1)
    assert lines[0].startswith(f"kgalign: {message}")
    assert len(read_graph("films.csv", id_column="id").entities) in (2, 3)


UNDERSTOOD = {
    "semicolons": ("films.csv", FILMS.replace(",", ";").encode(), "CSV with ;: 3 rows"),
    "bars": ("films.csv", FILMS.replace(",", "|").encode(), "CSV with |: 3 rows"),
    "tabs in a csv": ("films.csv", FILMS.replace(",", "\t").encode(), "TSV: 3 rows"),
    "commas in a tsv": ("films.tsv", FILMS.encode(), "CSV: 3 rows"),
    "csv named xlsx": ("films.xlsx", FILMS.encode(), "CSV: 3 rows"),
    "csv named json": ("films.json", FILMS.encode(), "CSV: 3 rows"),
    "csv without an ending": ("films", FILMS.encode(), "CSV: 3 rows"),
    "gzip named csv": ("films.csv", gzip.compress(FILMS.encode()), "CSV: 3 rows"),
    "a line for Excel": ("films.csv", b"sep=;\r\n" + FILMS.replace(",", ";").encode(), "CSV with ;: 3 rows"),
    "windows lines": ("films.csv", FILMS.replace("\n", "\r\n").encode(), "CSV: 3 rows"),
    "lines of an old Mac": ("films.csv", FILMS.replace("\n", "\r").encode(), "CSV: 3 rows"),
    "a byte order mark": ("films.csv", FILMS.encode("utf-8-sig"), "CSV: 3 rows"),
    "UTF-16": ("films.csv", FILMS.encode("utf-16"), "CSV, UTF-16: 3 rows"),
    "UTF-16 without a mark": ("films.csv", FILMS.encode("utf-16-le"), "CSV, UTF-16: 3 rows"),
    "windows-1252": ("films.csv", FILMS.replace("Gilliam", "Gilli\xe1m").encode("cp1252"), "CSV, windows-1252: 3 rows"),
    "titles above the header": ("films.csv", b"Films,,,\n,,,\n" + FILMS.encode(), "CSV: 3 rows, 1 line above the header left out"),
    "the header twice": ("films.csv", FILMS.encode() + FILMS.partition("\n")[0].encode(), "CSV: 3 rows"),
    "a blank header cell": ("films.csv", FILMS.replace("director", "").encode(), "CSV: 3 rows, 1 column without a name"),
    "two columns of one name": ("films.csv", FILMS.replace("year", "director").encode(), "CSV: 3 rows, 1 column with the name of"),
    "empty columns at the end": ("films.csv", FILMS.replace("\n", ",,\n").encode(), "CSV: 3 rows"),
    "blank lines": ("films.csv", FILMS.replace("\n", "\n\n").encode(), "CSV: 3 rows"),
    "line breaks in quotes": ("films.csv", FILMS.replace("Ridley Scott", '"Ridley\nScott"').encode(), "CSV: 3 rows"),
    "bare quotes in a tsv": ("films.tsv", FILMS.replace(",", "\t").replace("Terry", '"Terry').encode(), "TSV: 3 rows"),
    "an array of JSON": (
        "films.json",
        json.dumps([dict(zip(("id", "title"), row.split(",")[:2], strict=True)) for row in FILMS.splitlines()[1:]]).encode(),
        "JSON: 3 rows",
    ),
}


@pytest.mark.parametrize("case", UNDERSTOOD)
def test_a_table_in_disguise_is_understood(tmp_path, case):
    name, content, expected = UNDERSTOOD[case]
    (tmp_path / name).write_bytes(content)
    graph = read_graph(tmp_path / name)
    assert list(graph.entities[:3]) == ["1", "2", "3"]
    assert list(graph.names[:3]) == TITLES
    assert graph.record["table"].startswith(expected)


def test_a_table_without_a_header_has_numbered_columns(tmp_path):
    (tmp_path / "films.csv").write_text(FILMS.partition("\n")[2])
    graph = read_graph(tmp_path / "films.csv", labels=["column 2"])
    assert list(graph.names[:3]) == TITLES
    assert "no header: the columns are numbered" in graph.record["table"]


def test_a_table_without_ids_has_row_numbers(tmp_path):
    rows = [row.partition(",")[2] for row in FILMS.splitlines()]
    (tmp_path / "films.csv").write_text("\n".join([*rows, rows[1]]))
    graph = read_graph(tmp_path / "films.csv")
    assert list(graph.entities[:4]) == ["1", "2", "3", "4"]
    assert graph.record["ids from"] == "row numbers (no column has an id for each row)"


def test_ids_that_many_rows_share_are_no_ids(tmp_path):
    (tmp_path / "films.csv").write_text(FILMS.replace("3,Casa", "1,Casa"))
    graph = read_graph(tmp_path / "films.csv")
    assert list(graph.entities) == ["1", "2", "3"]
    assert graph.record["ids from"] == "row numbers (no column has an id for each row; `id` is empty or the same in several rows)"


def test_an_excel_table_is_read_whatever_its_name_is(tmp_path):
    rows = [row.split(",") for row in FILMS.splitlines()]
    excel(
        tmp_path / "films.csv", ("Notes", []), ("Films", [[int(cell) if cell.isdigit() else cell for cell in row] for row in rows])
    )
    graph = read_graph(tmp_path / "films.csv")
    assert (list(graph.entities), list(graph.names)) == (["1", "2", "3"], TITLES)
    assert graph.record["table"] == "XLSX, sheet Films, one of 2: 3 rows"


def test_excel_with_merged_header_cells_is_read(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["All films"], ["id", "title", "made"], [1, "Alien", "London", 1979], [2, "Brazil", "London", 1985]):
        book.active.append(row)
    book.active.merge_cells("A1:D1")
    book.active.merge_cells("C2:D2")
    book.save(tmp_path / "films.xlsx")
    graph = read_graph(tmp_path / "films.xlsx")
    assert list(graph.names) == TITLES[:2]
    assert graph.attributes.properties == ["title", "made", "column 4"]


def test_excel_without_openpyxl_says_what_to_install(tmp_path, kgalign, monkeypatch):
    excel(tmp_path / "films.xlsx", ("Films", [["id", "title"], [1, "Alien"]]))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    status, _, lines = kgalign("info", "films.xlsx")
    assert (status, lines) == (
        2,
        ["kgalign: films.xlsx: XLSX needs openpyxl: pip install 'kgalign[xlsx]', or save the table as CSV"],
    )


def test_damaged_excel_and_parquet_are_refused(tmp_path, kgalign):
    excel(tmp_path / "films.xlsx", ("Films", [["id", "title"], [1, "Alien"]]))
    data = (tmp_path / "films.xlsx").read_bytes()
    (tmp_path / "films.xlsx").write_bytes(data[: len(data) // 2])
    (tmp_path / "films.parquet").write_bytes(parquet(tmp_path / "films.parquet")[:-9])
    for name, message in (("films.xlsx", "expected an XLSX table, but"), ("films.parquet", "expected a Parquet table, but")):
        status, _, lines = kgalign("info", name)
        assert (status, len(lines)) == (2, 1)
        assert lines[0].startswith(f"kgalign: {name}: {message}")


def test_a_folder_of_tables_is_no_table(tmp_path, kgalign):
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "films.csv").write_text(FILMS)
    status, _, lines = kgalign("align", "films", "films/films.csv")
    assert status == 2
    assert lines[-1].startswith("kgalign: films: no graph in this folder; expected RDF")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "t.jsonl",
            '{"id": "1", "na\\ud800me": "Ro\\ud800me \\ud83d\\ude00", "tags": ["\\udfff", "b"]}\n{"id": "2", "tags": ["c", "d"]}\n',
        ),
        ("t.csv", 'id,name,tags\n1,Rome,"[""\\udfff"", ""b""]"\n2,Paris,"[""c"", ""d""]"\n'),
    ],
)
def test_half_characters_that_json_can_hold_reach_no_file(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    graph = read_graph(path)
    values = [*graph.attributes.values, *graph.attributes.properties, *graph.entities, *graph.names]
    assert not any("\ud800" <= sign <= "\udfff" for value in values for sign in value)
    assert "\N{REPLACEMENT CHARACTER}" in "".join(values)
    assert ("\N{GRINNING FACE}" in "".join(values)) == (name == "t.jsonl")


@pytest.mark.parametrize("cell", ["[" * 20_000 + "]" * 20_000, "[" + "-" * 50_000 + "1]", "[" + "(" * 20_000 + ")" * 20_000 + "]"])
def test_arrays_that_are_nested_too_deeply_are_text(tmp_path, cell):
    path = tmp_path / "t.csv"
    path.write_text(f'id,name,tags\n1,Rome,"{cell}"\n2,Paris,"{cell}"\n', "utf-8")
    assert cell in read_graph(path).attributes.values


def test_an_archive_of_tables_is_to_be_unpacked(tmp_path, kgalign):
    from zipfile import ZipFile

    with ZipFile(tmp_path / "films.zip", "w") as archive:
        archive.writestr("films.csv", FILMS)
    status, _, lines = kgalign("info", "films.zip")
    assert (status, lines) == (2, ["kgalign: films.zip: expected a table, found a ZIP archive: unpack it and give the table"])
