"""Damage to files: bytes, lines, values of JSON, and the parts of archives and of Parquet. The same random numbers give the same damage."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

TOKENS = (  # what formats give a meaning to
    *(
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\x1b[31m",
        b"\r",
        b"\n",
        b"\t",
        b"\xe2\x80\xa8",
        b"\xe2\x80\xae",
        b"PK\x03\x04",
        b"\x1f\x8b",
    ),
    *rb"""" ' < > \ \uD800 % @ ^^ [ ] { } , ; | . 1e999 -1 NaN null true =1+1 <http://x/ _:b &amp; &x; <!-- <![CDATA[ #""".split(),
    b"9" * 400,
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    3.5,
    1e308,
    10**40,
    "",
    "text",
    "a\0b",
    [],
    [None],
    {},
    {"a": []},
    [[1, 2]],
    "\ud800",
    "../..",
)
TERM = re.compile(rb'"[^"\n]*"|<[^<>\s]*>')
NESTING = ((b"<<( <http://x/a> <http://x/b> ", b" )>>"), (b"[ <http://x/a> ", b"]"), (b"(", b")"), (b"<x>", b"</x>"), (b"{", b"}"))
REPEATED = 6_000  # rows
MOST = 1 << 20  # bytes of a damaged file


def damage(path: Path, chance: random.Random) -> str:
    """Damages a file, or one file of a folder, and returns its name."""
    if path.is_dir():
        path = chance.choice(sorted(each for each in path.rglob("*") if each.is_file()))
    content = path.read_bytes()
    changed = content
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        changed = _damaged(path, changed, chance)
    path.write_bytes(changed[:MOST])
    return path.name


def _damaged(path: Path, content: bytes, chance: random.Random) -> bytes:
    ways = [_bytes, _bytes, _lines, _numbered]
    if path.suffix in (".nt", ".nq", ".ttl", ".trig", ".rdf"):
        ways.append(_nested)
    if path.suffix in (".json", ".jsonl", ".jsonld"):
        ways += [_json, _json, _json]
    if path.suffix == ".parquet":
        ways += [_parquet, _parquet]
    if path.suffix in (".npz", ".xlsx"):
        ways += [_archive, _archive]
    if path.suffix == ".gz":
        ways += [_gzip, _gzip]
    try:
        return chance.choice(ways)(content, chance)
    except Exception:  # what is damaged already may be no Parquet, JSON or archive any more, in ways that nobody foresees
        return _bytes(content, chance)


def _bytes(content: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, taken out, put in, repeated or cut off."""
    start = chance.randrange(len(content) + 1)
    stop = min(len(content), start + chance.choice((1, 1, 4, 40, 400)))
    part = content[start:stop]
    new = chance.choice((
        b"", bytes(each ^ (1 << chance.randrange(8)) for each in part), chance.choice(TOKENS), chance.choice(TOKENS) + part,
        chance.randbytes(len(part)), part * chance.choice((2, 50)), chance.choice(TOKENS) * 500, bytes(len(part)), None,
    ))  # fmt: skip
    return content[:start] if new is None else content[:start] + new + content[stop:]


def _lines(content: bytes, chance: random.Random) -> bytes:
    """Lines in another order, repeated, joined or taken out; fields in another order."""
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    match chance.randrange(6):
        case 0:
            chance.shuffle(lines)
        case 1:
            lines[at:at] = [lines[at]] * chance.choice((1, 200))
        case 2:
            del lines[at]
        case 3:
            fields = lines[at].split(b"\t")
            chance.shuffle(fields)
            lines[at] = b"\t".join(fields[: chance.randrange(len(fields) + 1)])
        case 4:
            lines[at] = lines[at].replace(b"\t", chance.choice(TOKENS))
        case _:
            return content.replace(b"\n", chance.choice((b"\r", b"\r\n", b"", b"\n\n")))
    return b"\n".join(lines)


def _nested(content: bytes, chance: random.Random) -> bytes:
    """A term of RDF inside of others, many times."""
    begin, end = chance.choice([found.span() for found in TERM.finditer(content)])
    opening, closing = chance.choice(NESTING)
    count = chance.choice((2, 600, MOST // 2 // len(opening)))
    return content[:begin] + opening * count + content[begin:end] + closing * count + content[end:]


def _numbered(content: bytes, chance: random.Random) -> bytes:
    """A word, or a line with a word in it, thousands of times, each with a number behind it or none."""
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    words = list(re.finditer(rb"\w+", lines[at]))
    if not words:
        return _bytes(content, chance)
    word, line = chance.choice(words), lines[at]
    before, after = line[: word.start()], line[word.end() :]
    between = chance.choice((b",", b"\t", b" ", b'": 1, "', None))
    one = len(word[0]) + 8 if between else len(line) + 6
    numbers = range(MOST // 2 // one)
    with_number = chance.random() < 0.7
    named = [b"%s%d" % (word[0], number) if with_number else word[0] for number in numbers]
    lines[at] = before + between.join(named) + after if between else b"\n".join(before + name + after for name in named)
    return b"\n".join(lines)


def _json(content: bytes, chance: random.Random) -> bytes:
    """A value of JSON, or of one line of it, replaced, taken out or wrapped in others."""
    lines = [content] if content[:1] in b"[{" and b"}\n{" not in content else content.split(b"\n")
    at = chance.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return _bytes(content, chance)
    if chance.random() < 0.05:
        lines[at] = b"[" * 5000 + lines[at] + b"]" * 5000
    else:
        lines[at] = json.dumps(_changed(value, chance), ensure_ascii=True).encode()
    return b"\n".join(lines)


def _changed(value: Any, chance: random.Random) -> Any:
    """The value with a change at a random depth."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.15:
        return chance.choice((*VALUES, [value], {"a": value}))
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, copy = chance.choice(keys), value.copy()
    match chance.randrange(5):
        case 0:
            del copy[key]
        case 1 if isinstance(copy, dict):
            copy[chance.choice(("x", *map(str, keys)))] = copy.pop(key)
        case _:
            copy[key] = _changed(copy[key], chance)
    return copy


def _parquet(content: bytes, chance: random.Random) -> bytes:
    """A column taken out, renamed, of another type, or of one long text in thousands of rows."""
    try:
        table = pa.parquet.read_table(io.BytesIO(content))
        at = chance.randrange(table.num_columns)
        name, rows = table.column_names[at], len(table)
    except (pa.ArrowException, OSError, ValueError):  # no table any more, none with columns, or names that are no UTF-8
        return _bytes(content, chance)
    match chance.randrange(7):
        case 0:
            table = table.remove_column(at)
        case 1:
            names = table.column_names
            names[at] = chance.choice(("x", "", "a\tb", names[at - 1]))
            table = table.rename_columns(names)
        case 2:
            table = table.set_column(at, name, pa.array([chance.choice((None, "text", "\x1b[31m", "1e999"))] * rows, pa.string()))
        case 3:
            table = table.set_column(at, name, pa.array([b"\xff\xfe"] * rows, pa.binary()).view(pa.string()))
        case 4:
            table = table.set_column(at, name, pa.nulls(rows, table.schema.field(at).type))
        case 5:
            table = table.take(pa.array([0] * REPEATED)) if rows else table
            texts = pa.DictionaryArray.from_arrays(pa.array([0] * len(table), pa.int32()), ["x" * MOST])
            table = table.set_column(at, name, texts)
        case _:
            table = table.slice(0, chance.randrange(rows + 1))
    written = io.BytesIO()
    pa.parquet.write_table(table, written, compression="zstd", dictionary_pagesize_limit=2 * MOST)
    return written.getvalue()


def _archive(content: bytes, chance: random.Random) -> bytes:
    """An archive with a part damaged, taken out or renamed."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, ValueError):
        return _bytes(content, chance)
    if not parts:
        return _bytes(content, chance)
    name = chance.choice(sorted(parts))
    match chance.randrange(5):
        case 0:
            del parts[name]
        case 1 if name.endswith(".npy"):
            array = io.BytesIO()
            np.save(array, np.zeros((1 << 10, 1 << 17), np.uint8))
            parts[name] = array.getvalue()
        case 2:
            parts[chance.choice(("scores.npy", "targets.npy", "x"))] = parts.pop(name)
        case _:
            parts[name] = _bytes(parts[name], chance)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, part in parts.items():
            archive.writestr(zipfile.ZipInfo(each), part)
    return written.getvalue()


def _gzip(content: bytes, chance: random.Random) -> bytes:
    """The content damaged, and packed again."""
    try:
        return gzip.compress(_bytes(gzip.decompress(content), chance), mtime=0)
    except (OSError, EOFError, zlib.error):
        return _bytes(content, chance)
