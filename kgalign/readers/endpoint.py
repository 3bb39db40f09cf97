"""The statements of a SPARQL endpoint, page by page."""

from __future__ import annotations

import json
import logging
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from http.client import HTTPException
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from kgalign.errors import DataError
from kgalign.readers.statements import Damage, Gatherer
from kgalign.seams import Statements

logger = logging.getLogger(__name__)
PAGE = 10_000  # rows
SMALLEST_PAGE = 100
LOGGED_EVERY = 100_000  # statements
ATTEMPTS = 6
LONGEST_WAIT = 60.0  # seconds
TEMPORARY = (408, 425, 429, 500, 502, 503, 504)  # HTTP statuses after which the same request may succeed
NOT_IN_AN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
Row = dict[str, dict[str, str]]


def read_statements(
    endpoint: str, page: int = PAGE, timeout: float = 120.0, wait: Callable[[float], None] = time.sleep
) -> Statements:
    """All statements of the endpoint about entities with an IRI.

    Blank nodes are left out, since an endpoint labels them anew in each answer. A page begins with the last subject of the page before
    (keyset paging) and the reading ends with an empty page, so that neither a changing order nor a limit of the server loses statements.

    Args:
        endpoint: The address, such as `http://host/path`.
        page: The number of rows to ask for at once.
        timeout: The seconds after which a request has failed.
        wait: Passes the seconds before a failed request is sent again.
    """
    client = _Client(endpoint, page, timeout, wait)
    gatherer = Gatherer()
    gatherer.add(quad for row in _all_rows(client, endpoint) if (quad := _quad(row, endpoint, gatherer.damage)) is not None)
    statements = gatherer.statements()
    if not statements.entities:
        raise DataError(f"{endpoint}: the graph is empty; expected at least one statement about an IRI")
    return statements


def _all_rows(client: _Client, endpoint: str) -> Iterator[Row]:
    """The rows of all pages. The last subject of a page may have more rows, so the next page begins with it again."""
    condition, expected = "", ""
    count = 0
    while rows := client.rows(_query(condition)):
        subjects = [row["s"]["value"] for row in rows]
        last = subjects[-1]
        if count // LOGGED_EVERY < (count + len(rows)) // LOGGED_EVERY:
            logger.info("%s: about %s statements so far", endpoint, f"{count + len(rows):,}")
        count += len(rows)
        if expected and subjects[0] != expected:
            raise DataError(
                f"{endpoint}: expected a page that begins with the subject {expected!r}, found {subjects[0]!r}; try again"
            )
        if subjects[0] != last:
            yield from (row for row, subject in zip(rows, subjects, strict=True) if subject != last)
            condition, expected = f"FILTER(STR(?s) >= {_string(last)})", last
        else:
            yield from _rows_of(client, last)
            condition, expected = f"FILTER(STR(?s) > {_string(last)})", ""


def _rows_of(client: _Client, subject: str) -> Iterator[Row]:
    """All rows of the last subject, or of one that fills a page alone; in a total order, so that no page repeats a row."""
    one = f"FILTER(STR(?s) = {_string(subject)} && isIRI(?s))" if NOT_IN_AN_IRI.search(subject) else f"VALUES ?s {{ <{subject}> }}"
    offset = 0
    while rows := client.rows(
        f"SELECT ?s ?p ?o WHERE {{ {one} ?s ?p ?o }} ORDER BY STR(?p) STR(?o) isIRI(?o) LANG(?o) STR(DATATYPE(?o))",
        offset,
    ):
        yield from rows
        offset += len(rows)


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


class _Client:
    """Sends queries. After a temporary failure it sends them again, for smaller pages."""

    def __init__(self, endpoint: str, page: int, timeout: float, wait: Callable[[float], None]) -> None:
        self._endpoint, self._page, self._timeout, self._wait = endpoint, page, timeout, wait

    def rows(self, query: str, offset: int = 0) -> list[Row]:
        """A page of the query's rows, from that row on."""
        for attempt in range(1, ATTEMPTS + 1):
            limited = f"{query} LIMIT {self._page}" + (f" OFFSET {offset}" if offset else "")
            try:
                return self._answer(limited)
            except urllib.error.HTTPError as error:
                problem, least_wait = f"it answered {error.code} {error.reason}", _seconds(error.headers.get("Retry-After"))
                is_temporary = error.code in TEMPORARY
            except (urllib.error.URLError, OSError, HTTPException, ValueError) as error:
                problem, least_wait, is_temporary = str(error) or type(error).__name__, 0.0, True
            if not is_temporary or attempt == ATTEMPTS:
                times = f" {attempt} times" if attempt > 1 else ""
                raise DataError(
                    f"{self._endpoint}: expected the results of a SPARQL query, but{times} {problem}; is the address right, "
                    "and the endpoint up?"
                )
            self._page = max(SMALLEST_PAGE, self._page // 2)
            seconds = min(LONGEST_WAIT, max(least_wait, 2.0 ** (attempt - 1)))
            logger.info("%s: %s; trying again in %.0f s", self._endpoint, problem, seconds)
            self._wait(seconds)
        raise AssertionError("the last attempt returns or raises")

    def _answer(self, query: str) -> list[Row]:
        request = urllib.request.Request(
            self._endpoint,
            urllib.parse.urlencode({"query": query}).encode(),
            {"Accept": "application/sparql-results+json", "User-Agent": "kgalign"},
        )
        with urllib.request.urlopen(request, timeout=self._timeout) as answer:
            found: Any = json.loads(answer.read())
        try:
            rows = found["results"]["bindings"]
            return [{name: row[name] for name in "spo"} for row in rows]
        except (KeyError, TypeError):
            raise ValueError("its answer holds no results; is this a SPARQL endpoint?") from None


def _seconds(text: str | None) -> float:
    return float(text) if text and text.isdigit() else 0.0
