import bz2
import gzip

import pyarrow as pa
import pytest

from kgalign import DataError
from kgalign.files import find_file, open_lines, read_rows


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".zst"])
def test_open_lines_reads_compressed_files_as_they_are(tmp_path, ending):
    content = "a\tb\nü\t\u2028x\r\n\n".encode()
    packed = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": lambda data: pa.compress(data, "zstd", asbytes=True)}
    path = tmp_path / f"rows{ending}"
    path.write_bytes(packed[ending](content))
    assert list(open_lines(path)) == [(1, "a\tb"), (2, "ü\t\u2028x")]
    assert find_file(tmp_path, "rows") == path


def test_open_lines_takes_a_byte_order_mark_off(tmp_path):
    (tmp_path / "rows").write_bytes(b"\xef\xbb\xbfa\n")
    assert list(open_lines(tmp_path / "rows")) == [(1, "a")]


def test_open_lines_names_the_line_that_is_not_utf8(tmp_path):
    (tmp_path / "rows").write_bytes(b"fine\nbad \xff\n")
    with pytest.raises(DataError, match=r"rows:2: expected UTF-8, found the byte 0xff"):
        list(open_lines(tmp_path / "rows"))


def test_open_lines_refuses_a_broken_archive(tmp_path):
    (tmp_path / "rows.gz").write_bytes(gzip.compress(b"a\tb\n" * 1000)[:-20])
    with pytest.raises(DataError, match=r"rows\.gz: expected a whole gzip file"):
        list(open_lines(tmp_path / "rows.gz"))


def test_read_rows_keeps_quotes_and_further_tabs(tmp_path):
    (tmp_path / "rows").write_text('a\t"b\tc\td"\n')
    assert list(read_rows(tmp_path / "rows", 3)) == [(1, ["a", '"b', 'c\td"'])]


def test_read_rows_names_the_line_with_too_few_fields(tmp_path):
    (tmp_path / "rows").write_text("a\tb\tc\na\tb\n")
    with pytest.raises(DataError, match=r"rows:2: expected 3 fields between tabs, found 2"):
        list(read_rows(tmp_path / "rows", 3))
