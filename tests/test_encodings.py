"""Files in other encodings than UTF-8."""

import codecs
import tracemalloc

import pytest

from kgalign import DataError
from kgalign.readers.rdf_parser import read_statements

XML = (
    '<?xml version="1.0" encoding="{}"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">\n'
    '<rdf:Description rdf:about="http://x/a"><x:n>{}</x:n></rdf:Description>\n</rdf:RDF>\n'
)
OTHERS = {
    "g.ttl": '@prefix x: <http://x/> .\nx:a x:n "{}" .\n',
    "g.nt": '<http://x/a> <http://x/n> "{}" .\n',
    "g.trig": '@prefix x: <http://x/> .\nx:a x:n "{}" .\n',
    "g.jsonld": '{{"@id": "http://x/a", "http://x/n": "{}"}}',
}


def read_bytes(path, data, strict=False):
    path.write_bytes(data)
    return read_statements([path], strict)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("windows-1252", "„Café“ €"),
        ("ISO-8859-1", "Café"),
        ("iso-8859-2", "Łódź"),
        ("Shift_JIS", "東京"),
        ("UTF-16", "東京"),
        ("utf-8", "東京"),
    ],
)
def test_xml_is_read_in_the_encoding_that_it_declares(tmp_path, encoding, name, strict):
    statements = read_bytes(tmp_path / "g.rdf", XML.format(encoding, name).encode(encoding), strict)
    assert statements.values == [name]
    assert (statements.record["broken"], statements.record["mended"]) == (0, 0)
    assert ("encoding" in statements.record) == (encoding != "utf-8")


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", [*OTHERS, "g.rdf", "dump"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
def test_a_byte_order_mark_tells_the_encoding(tmp_path, name, encoding, strict):
    text = OTHERS.get(name, XML.replace('encoding="{}"', "")).format("Łódź 東京 🐈")
    statements = read_bytes(tmp_path / name, ("\ufeff" + text).encode(encoding), strict)
    assert statements.values == ["Łódź 東京 🐈"]
    assert (statements.record["broken"], statements.record["mended"]) == (0, 0)


@pytest.mark.parametrize("name", OTHERS)
def test_bytes_that_are_no_utf_8_are_read_as_windows_1252(tmp_path, name):
    data = OTHERS[name].format("„Café“ €").encode("windows-1252")
    statements = read_bytes(tmp_path / name, data)
    assert statements.values == ["„Café“ €"]
    assert (statements.record["broken"], statements.record["mended"]) == (0, 0)
    assert statements.record["encoding"] == f"{tmp_path / name}: UTF-8, and windows-1252 where it is not"
    line = OTHERS[name].partition("{}")[0].count("\n") + 1
    with pytest.raises(DataError, match=rf"{name}:{line}: expected UTF-8, found the byte 0x84; convert the file"):
        read_bytes(tmp_path / name, data, strict=True)


def test_utf_8_stays_utf_8_beside_other_bytes(tmp_path):
    rows = '<http://x/a> <http://x/n> "東京" .\n'.encode() + '<http://x/a> <http://x/n> "Café" .\n'.encode("latin-1")
    assert read_bytes(tmp_path / "g.nt", rows).values == ["東京", "Café"]


@pytest.mark.parametrize("text", ["Café", "Café & Bar"])  # the second one has to be mended too
def test_xml_that_is_not_in_the_encoding_that_it_declares_is_read_as_windows_1252(tmp_path, text):
    data = XML.format("UTF-8", text).encode("latin-1")
    statements = read_bytes(tmp_path / "g.rdf", data)
    assert statements.values == [text]
    assert statements.record["broken"] == 0
    assert "windows-1252" in statements.record["encoding"]
    with pytest.raises(DataError, match=r"g\.rdf:3: expected UTF-8, found the byte 0xe9"):
        read_bytes(tmp_path / "g.rdf", data, strict=True)


def test_xml_that_declares_utf_16_and_is_utf_8_is_read(tmp_path):
    assert read_bytes(tmp_path / "g.rdf", XML.format("utf-16", "東京").encode()).values == ["東京"]


@pytest.mark.parametrize("name", ["klingon-1", "rot13", "idna", "zlib", "unicode_escape", "", "a b"])
def test_an_unknown_encoding_is_refused_in_one_line(tmp_path, name):
    with pytest.raises(
        DataError, match=rf"^{tmp_path}/g\.rdf:1: expected the name of an encoding, found '{name}'; convert the file"
    ):
        read_bytes(tmp_path / "g.rdf", XML.format(name, "v").encode())


def test_characters_that_lie_across_two_blocks_are_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("kgalign.readers.encodings.BLOCK", 5)
    for encoding in ("utf-8", "utf-16-le"):
        text = "".join(f'<http://x/{i}> <http://x/n> "東京🐈{i}" .\n' for i in range(9))
        statements = read_bytes(tmp_path / "g.nt", codecs.BOM_UTF16_LE * (encoding != "utf-8") + text.encode(encoding))
        assert statements.values == [f"東京🐈{i}" for i in range(9)]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_file_without_errors_is_never_whole_in_memory(tmp_path, encoding):
    row = '<rdf:Description rdf:about="http://x/a"><x:n>é</x:n></rdf:Description>\n'
    head, tail = XML.format(encoding, "é").split("</rdf:RDF>")
    filling = f"<!-- {'é' * 1000} -->\n" * 8000
    data = (head + row * 100 + filling + "</rdf:RDF>" + tail).encode(encoding)
    (tmp_path / "g.rdf").write_bytes(data)
    tracemalloc.start()
    statements = read_statements([tmp_path / "g.rdf"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(statements.values) == 101
    assert peak < len(data) / 2
