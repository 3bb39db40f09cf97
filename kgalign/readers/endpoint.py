"""The statements of a SPARQL endpoint: all of them page by page, or those of a query."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat

from kgalign.errors import DataError
from kgalign.files import read_bytes
from kgalign.limits import DEFAULT, Limits
from kgalign.readers.endpoint_client import Client, MalformedAnswerError, Wait
from kgalign.readers.expansion import Expansion
from kgalign.readers.nesting import parse_text
from kgalign.readers.statements import Damage, Gatherer
from kgalign.seams import Statements

logger = logging.getLogger(__name__)
PAGE = 10_000  # rows
LOGGED_EVERY = 100_000  # statements
NOT_IN_AN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
JSON_OBJECT = re.compile(rb"\s*+(?:[{\xef\xfe\xff]|\Z)")  # or a byte order mark; an answer that breaks off is asked for again
HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # which JSON can hold, and no query
COMMENT_OR_IRI = re.compile(r"<[^<>\s]*>|#[^\n]*")
CONSTRUCT = re.compile(r"\bconstruct\b", re.IGNORECASE)
TABLE_TYPE = "application/sparql-results+json"
GRAPH_TYPES = {  # that an endpoint may answer a query with; the text of N-Triples is plain text to some
    "application/n-triples": RdfFormat.N_TRIPLES,
    "text/plain": RdfFormat.N_TRIPLES,
    "text/turtle": RdfFormat.TURTLE,
}
ONLY_PARTLY = "so only a part would be read; download a dump, or give a `query`"
Row = dict[str, dict[str, str]]


def read_statements(
    endpoint: str,
    page: int = PAGE,
    timeout: float = 120.0,
    wait: Wait = time.sleep,
    *,
    query: str | Path | None = None,
    limits: Limits = DEFAULT,
) -> Statements:
    """All statements of the endpoint about entities with an IRI, or those of a query.

    Without a query, blank nodes are left out, since an endpoint labels them anew in each answer. A page begins with the last subject of the
    page before (keyset paging) and the reading ends with an empty page, so that neither a changing order nor a limit of the server loses
    statements.

    Args:
        endpoint: The address, such as `http://host/path`.
        page: The number of rows to ask for at once.
        timeout: The seconds after which a request has failed.
        wait: Passes the seconds before a failed request is sent again.
        query: A file with a CONSTRUCT query. It is sent as it is, once.
        limits: The size and number of the answers, and the time that all of them may take.
    """
    client = Client(endpoint, page, timeout, wait, limits)
    gatherer = Gatherer()
    if query is not None:
        gatherer.add(_constructed(client, Path(query), limits))
    else:
        quads = (_quad(row, endpoint, gatherer.damage) for row in _all_rows(client))
        gatherer.add(quad for quad in quads if quad is not None)
    statements = gatherer.statements()
    if not statements.entities:
        raise DataError(f"{endpoint}: the graph is empty; expected at least one statement about an IRI")
    return statements


def _constructed(client: Client, path: Path, limits: Limits) -> list[Quad]:
    """The statements that a CONSTRUCT query describes."""
    if not path.is_file():
        raise DataError(f"{path}: no such file; expected a CONSTRUCT query")
    text = read_bytes(path, limits).decode("utf-8-sig", "replace")
    if not CONSTRUCT.search(COMMENT_OR_IRI.sub("", text)):
        raise DataError(f"{path}: expected a CONSTRUCT query, found {text[:60]!r}")

    def understood(answer: bytes, media_type: str) -> list[Quad]:
        kind = GRAPH_TYPES.get(media_type)
        if kind is None:
            raise MalformedAnswerError(f"it answered with {media_type}, and not with one of {', '.join(GRAPH_TYPES)}")
        expansion = Expansion()
        expansion.begin(client.endpoint, limits, lambda: len(answer))
        try:
            return list(expansion.counted(parse_text(answer, kind, lenient=True), answer))
        except (SyntaxError, MemoryError) as error:
            raise MalformedAnswerError(f"its answer is no {kind.name} ({error})") from None

    return client.ask(lambda _: text, ", ".join(GRAPH_TYPES), understood)


def _all_rows(client: Client) -> Iterator[Row]:
    """The rows of all pages. The last subject of a page may have more rows, so the next page begins with it again."""
    condition, expected = "", ""
    count = 0
    done = set[str]()  # subjects whose rows are all there
    while (rows := _page(client, _query(condition))) or expected:
        subjects = [row["s"]["value"] for row in rows]
        if count // LOGGED_EVERY < (count + len(rows)) // LOGGED_EVERY:
            logger.info("%s: about %s statements so far", client.endpoint, f"{count + len(rows):,}")
        count += len(rows)
        if expected and subjects[:1] != [expected]:
            found = repr(subjects[0]) if rows else "none"
            raise DataError(
                f"{client.endpoint}: expected a page that begins with the subject {expected!r}, found {found}: "
                f"the endpoint ignores ORDER BY or FILTER, {ONLY_PARTLY}"
            )
        ordered = [subject for subject, _ in groupby(subjects)]
        if len(set(ordered)) < len(ordered) or not done.isdisjoint(ordered):
            again = next(subject for number, subject in enumerate(ordered) if subject in done or subject in ordered[:number])
            raise DataError(
                f"{client.endpoint}: expected each subject once, found {again!r} again: the endpoint ignores ORDER BY or FILTER, "
                f"{ONLY_PARTLY}"
            )
        last = ordered[-1]
        done.update(ordered[:-1])
        if subjects[0] != last:
            yield from (row for row, subject in zip(rows, subjects, strict=True) if subject != last)
            condition, expected = f"FILTER(STR(?s) >= {_string(last)})", last
        else:
            yield from _rows_of(client, last)
            done.add(last)
            condition, expected = f"FILTER(STR(?s) > {_string(last)})", ""


def _rows_of(client: Client, subject: str) -> Iterator[Row]:
    """All rows of the last subject, or of one that fills a page alone; in a total order, so that no page repeats a row."""
    one = f"FILTER(STR(?s) = {_string(subject)} && isIRI(?s))" if NOT_IN_AN_IRI.search(subject) else f"VALUES ?s {{ <{subject}> }}"
    query = f"SELECT ?s ?p ?o WHERE {{ {one} ?s ?p ?o }} ORDER BY STR(?p) STR(?o) isIRI(?o) LANG(?o) STR(DATATYPE(?o))"
    offset = 0
    first: list[Row] = []
    while rows := _page(client, query, offset):
        if rows == first:
            raise DataError(
                f"{client.endpoint}: expected the rows of {subject!r} after the first {offset:,}, found the first ones again: "
                f"the endpoint ignores OFFSET, {ONLY_PARTLY}"
            )
        yield from rows
        first = first or rows
        offset += len(rows)


def _page(client: Client, query: str, offset: int = 0) -> list[Row]:
    """A page of the query's rows, from that row on."""

    def limited(rows: int) -> str:
        return f"{query} LIMIT {rows}" + (f" OFFSET {offset}" if offset else "")

    return client.ask(limited, TABLE_TYPE, lambda answer, _: _rows(answer))


def _rows(answer: bytes) -> list[Row]:
    """The rows of an answer."""
    if not JSON_OBJECT.match(answer):
        raise MalformedAnswerError(f"its answer is no JSON object: {answer[:60].decode('utf-8', 'replace')!r}")
    try:
        found: Any = json.loads(answer)
    except RecursionError:
        raise MalformedAnswerError("its answer is nested too deeply") from None
    try:
        rows = found["results"]["bindings"]
    except (KeyError, TypeError):
        raise MalformedAnswerError("its answer holds no results") from None
    if not isinstance(rows, list):
        raise MalformedAnswerError("its answer has rows that are no list")
    return [_row(row) for row in rows]


def _row(found: Any) -> Row:
    """The subject, predicate and object of a row, whose parts are all text."""
    terms: dict[str, Any] = {name: found.get(name) for name in "spo"} if isinstance(found, dict) else {}
    if not all(isinstance(term, dict) and {"type", "value"} <= term.keys() for term in terms.values()) or not terms:
        raise MalformedAnswerError(f"its answer has a row without subject, predicate or object: {json.dumps(found)[:80]}")
    for term in terms.values():
        for part in ("type", "value", "xml:lang", "datatype"):
            text = term.get(part, "")
            if not isinstance(text, str) or HALF_CHARACTER.search(text):
                raise MalformedAnswerError(f"its answer has a row with a {part} that is no text: {json.dumps(term)[:80]}")
    return terms


def _query(condition: str) -> str:
    return f"SELECT ?s ?p ?o WHERE {{ ?s ?p ?o FILTER(isIRI(?s)) {condition} }} ORDER BY STR(?s)"


def _string(text: str) -> str:
    """The text as a string of SPARQL."""
    return json.dumps(text, ensure_ascii=False)


def _quad(row: Row, endpoint: str, damage: Damage) -> Quad | None:
    """The statement of a row; None where its object is a blank node or a statement, or where an IRI is bad."""
    subject, predicate, value = (row[name] for name in "spo")
    try:
        head, relation = NamedNode(subject["value"]), NamedNode(predicate["value"])
        if value["type"] == "uri":
            return Quad(head, relation, NamedNode(value["value"]))
        if value["type"] not in ("literal", "typed-literal"):
            return None
        if language := value.get("xml:lang"):
            return Quad(head, relation, Literal(value["value"], language=language))
        datatype = value.get("datatype")
        return Quad(head, relation, Literal(value["value"], datatype=NamedNode(datatype) if datatype else None))
    except ValueError as error:
        damage.add(f"{endpoint}: expected a statement of RDF, found a bad one about {subject['value']!r} ({error})")
        return None
