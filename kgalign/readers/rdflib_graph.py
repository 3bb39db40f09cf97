"""The statements of a graph of rdflib, counted and mended as those of a file are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from pyoxigraph import Quad, RdfFormat

from kgalign.errors import DataError
from kgalign.readers.nesting import parse_text
from kgalign.readers.rdf_file import RdfFile, beginning, reason
from kgalign.readers.statements import Gatherer
from kgalign.seams import Statements

SHOWN = Path("rdflib graph")  # in place of the name of a file
BLOCK = 1000  # statements that are parsed at once
ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def rdflib_statements(graph: Any, strict: bool = False) -> Statements:
    """All statements of an rdflib graph, of every named graph where it has several.

    Args:
        graph: An `rdflib.Graph` or `rdflib.Dataset`.
        strict: Refuse the first broken statement, instead of leaving it out and counting it in the record.
    """
    gatherer = Gatherer()
    gatherer.add(_parsed(_lines(graph), RdfFile(SHOWN, RdfFormat.N_TRIPLES, strict, gatherer.damage)))
    statements = gatherer.statements()
    if not statements.entities:
        found = f"; {gatherer.damage.first_broken[0]}" if gatherer.damage.broken else ""
        raise DataError(f"{SHOWN}: the graph is empty; expected at least one statement{found}")
    return statements


def _lines(graph: Any) -> Iterable[str]:
    """The statements as N-Triples. The serializer of rdflib would refuse some bad IRIs, and drop the named graphs.

    A dataset keeps its named graphs in sets, so its statements are sorted: ids must not differ from one process to the next.
    """
    is_dataset = hasattr(graph, "quads")
    quads = graph.quads((None, None, None, None)) if is_dataset else graph
    lines = (f"{_term(subject)} {_term(predicate)} {_term(value)} ." for subject, predicate, value, *_ in quads)
    return sorted(lines) if is_dataset else lines


def _term(node: Any) -> str:
    """A term of rdflib as N-Triples has it."""
    kind = type(node).__name__
    if kind == "Literal":
        text = f'"{str(node).translate(ESCAPED)}"'
        return f"{text}@{node.language}" if node.language else f"{text}^^<{node.datatype}>" if node.datatype else text
    return f"_:{node}" if kind == "BNode" else f"<{node}>"


def _parsed(lines: Iterable[str], file: RdfFile) -> Iterator[Quad]:
    """The statements, block by block; where a block has an error, line by line."""
    lines = iter(lines)
    while block := list(islice(lines, BLOCK)):
        try:
            yield from list(parse_text("\n".join(block).encode(errors="replace"), file.kind))
        except SyntaxError:
            for line in block:
                yield from _checked(line, file)


def _checked(line: str, file: RdfFile) -> list[Quad]:
    """The statement of a line; its error is counted, or refused."""
    text = line.encode(errors="replace")
    try:
        return list(parse_text(text, file.kind))
    except SyntaxError as error:
        problem = error
    try:
        quads = list(parse_text(text, file.kind, lenient=True))
    except SyntaxError:
        file.report(None, problem, line)
        return []
    file.mend(None, beginning(line), reason(problem))
    return quads
