"""The reader against a real endpoint: pyoxigraph's store behind a web server on loopback."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest
from pyoxigraph import QueryResultsFormat, RdfFormat, Store

from kgalign import DataError, demo, read, read_graph, write_graph
from kgalign.readers.endpoint import read_statements


@contextmanager
def endpoint(data, cap=None, failures=(), answer=None):
    """An endpoint that holds the data (N-Triples); yields its address and the queries that it was sent.

    Args:
        data: The statements.
        cap: The most rows of an answer, whatever the query says, as public endpoints have it.
        failures: HTTP statuses of the first answers.
        answer: The body of every answer, instead of the statements.
    """
    store = Store()
    store.load(data.encode(), RdfFormat.N_TRIPLES)
    queries, pending = [], list(failures)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            query = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())["query"][0]
            queries.append(query)
            if pending:
                self.send_error(pending.pop(0))
                return
            rows = f"SELECT * WHERE {{ {{ {query} }} }} LIMIT {cap}" if cap else query
            body = answer or store.query(rows).serialize(format=QueryResultsFormat.JSON)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/sparql", queries
    finally:
        server.shutdown()
        server.server_close()


def statements_of(found):
    triples = {(found.entities[h], found.relations[r], found.entities[t]) for h, r, t in found.triples.tolist()}
    literals = zip(found.facts.tolist(), found.values, found.language_of.tolist(), found.datatype_of.tolist(), strict=True)
    return triples, {
        (found.entities[e], found.properties[p], value, found.languages[lang], found.datatypes[kind])
        for (e, p), value, lang, kind in literals
    }


HUB = "".join(f"<http://x/hub> <http://x/r> <http://x/{i}> .\n" for i in range(40))
INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
MIXED = HUB + "".join(f'<http://x/{i}> <http://x/n> "{i}"{kind} .\n' for i in range(9) for kind in ("", "@en", "@de", INTEGER))


@pytest.mark.parametrize(("page", "cap"), [(1000, None), (7, None), (1, None), (1000, 5)])
def test_no_page_size_loses_or_repeats_a_statement(page, cap):
    with endpoint(MIXED, cap) as (address, _):
        found = read_statements(address, page=page)
    assert len(found.triples) == 40
    assert len(found.values) == 36
    triples, literals = statements_of(found)
    assert (len(triples), len(literals)) == (40, 36)


def test_blank_nodes_are_left_out():
    with endpoint(
        "<http://x/a> <http://x/r> _:b .\n_:b <http://x/r> <http://x/a> .\n<http://x/a> <http://x/r> <http://x/c> .\n"
    ) as (address, _):
        assert read_statements(address).entities == ["http://x/a", "http://x/c"]


def test_temporary_failures_are_retried_after_growing_waits():
    waits = []
    with endpoint(MIXED, failures=[503, 429, 500]) as (address, queries):
        found = read_statements(address, page=1000, wait=waits.append)
    assert len(found.triples) == 40
    assert waits == [1, 2, 4]
    assert [query.rpartition("?s) ")[2] for query in queries[:3]] == ["LIMIT 1000", "LIMIT 500", "LIMIT 250"]


def test_a_lasting_failure_is_one_line():
    waits = []
    with endpoint(MIXED, failures=[503] * 99) as (address, _), pytest.raises(DataError, match="6 times it answered 503"):
        read_statements(address, wait=waits.append)
    assert len(waits) == 5
    with endpoint(MIXED, failures=[400]) as (address, _), pytest.raises(DataError, match="but it answered 400"):
        read_statements(address)
    with (
        endpoint("", answer=b"<html>hello</html>") as (address, _),
        pytest.raises(DataError, match="expected the results of a SPARQL query"),
    ):
        read_statements(address, wait=waits.append)
    with pytest.raises(DataError, match=r"http://127\.0\.0\.1:1/: expected the results of a SPARQL query, but 6 times"):
        read_statements("http://127.0.0.1:1/", wait=waits.append)
    with endpoint("") as (address, _), pytest.raises(DataError, match="the graph is empty"):
        read_statements(address)


def test_an_endpoint_that_does_not_page_is_refused():
    page = b'{"results": {"bindings": [%s]}}' % b",".join(
        b'{"s": {"type": "uri", "value": "http://x/%d"}, "p": {"type": "uri", "value": "http://x/r"}, "o": {"type": "literal", "value": "v"}}'
        % i
        for i in range(3)
    )
    with endpoint("", answer=page) as (address, _), pytest.raises(DataError, match="expected a page that begins with"):
        read_statements(address)


def test_a_graph_of_an_endpoint_reads_like_its_file(tmp_path):
    task, _ = demo("fr_en")
    write_graph(task.source, tmp_path / "g.nt", "fr")
    graph = read_graph(tmp_path / "g.nt")
    with endpoint((tmp_path / "g.nt").read_text("utf-8")) as (address, _):
        task, _ = read(f"sparql+{address}", tmp_path / "g.nt")
    assert sorted(zip(task.source.entities, task.source.names, strict=True)) == sorted(
        zip(graph.entities, graph.names, strict=True)
    )
    assert len(task.source.triples) == len(graph.triples)
    assert len(task.source.attributes.values) == len(graph.attributes.values)
