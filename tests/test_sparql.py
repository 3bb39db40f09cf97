"""The reader against a real endpoint: pyoxigraph's store behind a web server on loopback."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest
from pyoxigraph import QueryResultsFormat, RdfFormat, Store

from kgalign import DataError, Limits, OptionError, demo, read, read_graph, write_graph
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
    with endpoint("") as (address, _), pytest.raises(DataError, match="the graph is empty"):
        read_statements(address)


def test_a_host_that_refuses_is_asked_three_times_and_an_unknown_one_once(monkeypatch):
    waits = []
    refused = r"http://127\.0\.0\.1:1/: .* but 3 times the host 127\.0\.0\.1:1 refused the connection; is the address right"
    with pytest.raises(DataError, match=refused):
        read_statements("http://127.0.0.1:1/", wait=waits.append)
    assert waits == [1, 2]
    for code, message, pauses in (
        (socket.EAI_NONAME, r"^http://no\.example/: cannot find the host no\.example; is the address right\?$", []),
        (socket.EAI_AGAIN, "but 3 times it cannot find the host no.example; is the address right", [1, 2]),
    ):
        waits.clear()

        def resolve(*_, code=code, **__):
            raise socket.gaierror(code, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        with pytest.raises(DataError, match=message):
            read_statements("http://no.example/", wait=waits.append)
        assert waits == pauses


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


TERM = {"type": "uri", "value": "http://x/a"}
ROW = {"s": TERM, "p": TERM, "o": TERM}


def bindings(rows):
    return {"results": {"bindings": rows}}


MALFORMED = {
    "a list": [],
    "no bindings": {"results": {}},
    "results that are text": {"results": "none"},
    "bindings that are no list": bindings({"s": TERM}),
    "a row that is no object": bindings(["row"]),
    "a row without an object": bindings([{"s": TERM, "p": TERM}]),
    "a term that is text": bindings([{**ROW, "s": "http://x/a"}]),
    "a term without a value": bindings([{**ROW, "o": {"type": "uri"}}]),
    "a value that is a number": bindings([{**ROW, "o": {"type": "literal", "value": 7}}]),
    "a language that is a list": bindings([{**ROW, "o": {"type": "literal", "value": "v", "xml:lang": ["en"]}}]),
    "half a character": bindings([{**ROW, "s": {"type": "uri", "value": "http://x/\ud800"}}]),
    "null": None,
}


@pytest.mark.parametrize("name", MALFORMED)
def test_an_answer_of_another_shape_is_one_line(name):
    with (
        endpoint("", answer=json.dumps(MALFORMED[name]).encode()) as (address, queries),
        pytest.raises(DataError, match=f"^{address}: expected the results of a SPARQL query, but its answer") as error,
    ):
        read_statements(address)
    assert len(queries) == 1  # asking again would not help
    assert len(str(error.value)) < 400


def test_an_answer_that_is_nested_too_deeply_is_one_line():
    with (
        endpoint("", answer=b'{"a":' * 200_000) as (address, _),
        pytest.raises(DataError, match="its answer is nested too deeply"),
    ):
        read_statements(address)


@pytest.mark.parametrize("answer", [b"<html>a page</html>", b"[1]", b"no results"])
def test_an_answer_that_is_no_json_is_not_asked_for_again(answer):
    with (
        endpoint("", answer=answer) as (address, queries),
        pytest.raises(DataError, match=r"but its answer is no JSON object: .*; is the address right"),
    ):
        read_statements(address)
    assert len(queries) == 1


def same_rows(*subjects):
    return json.dumps(bindings([{**ROW, "s": {"type": "uri", "value": f"http://x/{each}"}} for each in subjects])).encode()


@pytest.mark.parametrize(("subjects", "problem"), [("a", "ignores OFFSET"), ("aaa", "ignores OFFSET"), ("aba", "ignores ORDER BY")])
def test_the_same_page_again_is_noticed(subjects, problem):
    with endpoint("", answer=same_rows(*subjects)) as (address, queries), pytest.raises(DataError, match=problem):
        read_statements(address)
    assert len(queries) <= 4


@contextmanager
def hostile(respond):
    """A server whose answers are written by a function that gets a request and the number of those before it."""
    count = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.query = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())["query"][0]
            count.append(self.query)
            with suppress(OSError):
                respond(self, len(count) - 1)

        def send(self, body, kind="application/sparql-results+json"):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close = True, False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/sparql", count
    finally:
        server.shutdown()
        server.server_close()


def test_an_answer_without_an_end_is_refused():
    def respond(request, _):
        request.send(b'{"results": {"bindings": [')
        while True:
            request.wfile.write(b" " * (1 << 16))

    with (
        hostile(respond) as (address, queries),
        pytest.raises(DataError, match=r"expected answers of at most 1,000,000 bytes, found more; .* `limits` answer=2000000"),
    ):
        read_statements(address, wait=lambda _: None, limits=Limits(answer=1_000_000))
    assert 1 < len(queries) <= 7  # smaller pages were asked for


def test_long_answers_are_asked_for_in_smaller_pages():
    with endpoint(MIXED) as (address, _):
        assert len(read_statements(address, page=1000, limits=Limits(answer=20_000), wait=lambda _: None).triples) == 40


def drip_body(request, _):
    request.send(b"")
    while True:
        request.wfile.write(b" ")
        time.sleep(0.02)


def drip_headers(request, _):
    request.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
    while True:
        request.wfile.write(b"x")
        request.wfile.flush()
        time.sleep(0.02)


@pytest.mark.parametrize("drip", [drip_body, drip_headers])
def test_an_endpoint_that_sends_a_byte_at_a_time_is_given_up_in_time(drip):
    began = time.monotonic()
    with hostile(drip) as (address, _), pytest.raises(DataError, match=r"read within at most 0\.5 seconds, found more"):
        read_statements(address, wait=lambda _: None, limits=Limits(seconds=0.5))
    assert time.monotonic() - began < 2


def test_a_request_that_takes_too_long_is_sent_again():
    def respond(request, number):
        if number == 0:
            time.sleep(5)
        request.send(same_rows("a") if number == 1 else same_rows())

    waits = []
    with hostile(respond) as (address, _), pytest.raises(DataError, match="the graph is empty"):
        read_statements(address, timeout=0.3, wait=waits.append)
    assert waits[0] == 1


def test_an_endpoint_with_ever_new_subjects_is_given_up():
    def respond(request, number):
        request.send(same_rows(f"{number:09}") if "SELECT ?s ?p ?o WHERE { ?s" in request.query else same_rows())

    with (
        hostile(respond) as (address, queries),
        pytest.raises(
            DataError, match="read with at most 30 requests, found more; if you trust it, set for instance `limits` requests=60"
        ),
    ):
        read_statements(address, limits=Limits(requests=30))
    assert len(queries) == 30


def test_an_answer_that_breaks_off_is_asked_for_again():
    def respond(request, number):
        body = same_rows("a", "b") if number < 2 else same_rows()
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: len(body) // 2 if number == 0 else None])

    waits = []
    with hostile(respond) as (address, _), pytest.raises(DataError, match="begins with the subject 'http://x/b', found none"):
        read_statements(address, wait=waits.append)
    assert waits == [1]


def write_query(folder, text):
    (folder / "part.rq").write_text(text, "utf-8")
    return folder / "part.rq"


def answer_graph(data):
    """A function that answers CONSTRUCT queries out of a store."""
    store = Store()
    store.load(data.encode(), RdfFormat.N_TRIPLES)
    return lambda request, _: request.send(
        store.query(request.query).serialize(format=RdfFormat.N_TRIPLES), "application/n-triples"
    )


def test_a_query_reads_a_part_of_an_endpoint(tmp_path):
    query = write_query(tmp_path, "# people\nCONSTRUCT { ?s <http://x/n> ?n } WHERE { ?s <http://x/n> ?n FILTER(LANG(?n) = 'en') }")
    with hostile(answer_graph(MIXED)) as (address, queries):
        graph = read_graph(f"sparql+{address}", query=query)
        task, _ = read(f"sparql+{address}", f"sparql+{address}", query=query)
    assert sorted(graph.entities) == [f"http://x/{i}" for i in range(9)]
    assert len(task.source.entities) == len(task.target.entities) == 9
    assert queries == [query.read_text()] * 3


def test_blank_nodes_of_a_query_stay_together(tmp_path):
    query = write_query(tmp_path, "CONSTRUCT { ?s <http://x/r> _:b . _:b <http://x/n> ?s } WHERE { ?s ?p ?o }")
    with hostile(answer_graph("<http://x/a> <http://x/r> <http://x/c> .\n")) as (address, _):
        found = read_statements(address, query=query)
    assert len(found.entities) == 2
    assert len(found.triples) == 2


@pytest.mark.parametrize(
    ("kind", "body", "problem"),
    [
        ("text/html", b"<html>hello</html>", "it answered with text/html"),
        ("application/n-triples", b"<html>hello</html>", "its answer is no N-Triples"),
        ("text/turtle", b'x:a x:n """', "its answer is no Turtle"),
        (
            "text/turtle",
            b"<x:a> <x:n> " + b"<<( <x:a> <x:n> " * 20_000 + b"1" + b" )>>" * 20_000 + b" .",
            "no Turtle .more than 500 triple",
        ),
        (
            "text/turtle",
            b"@prefix a: <http://x/" + b"y" * 300_000 + b"/> .\n" + b"<http://x/1> a:1 a:2 .\n" * 9_000,
            "prefixes and bases that make a document larger .* `limits` expansion=200",
        ),
        ("application/n-triples", b"", "the graph is empty"),
    ],
)
def test_an_answer_to_a_query_that_is_no_graph_is_one_line(tmp_path, kind, body, problem):
    query = write_query(tmp_path, "CONSTRUCT WHERE { ?s ?p ?o }")
    with hostile(lambda request, _: request.send(body, kind)) as (address, _), pytest.raises(DataError, match=problem):
        read_graph(f"sparql+{address}", query=query)


def test_a_query_that_constructs_nothing_is_refused(tmp_path):
    address = "sparql+http://127.0.0.1:1/"
    with pytest.raises(DataError, match=r"part\.rq: expected a CONSTRUCT query, found 'SELECT"):
        read_graph(address, query=write_query(tmp_path, "SELECT * WHERE { ?s <http://x/construct> ?o } # construct"))
    with pytest.raises(DataError, match=r"none\.rq: no such file; expected a CONSTRUCT query"):
        read_graph(address, query=tmp_path / "none.rq")
    (tmp_path / "g.tsv").write_text("a\tr\tb\n")
    with pytest.raises(OptionError, match="`query` is for a SPARQL endpoint"):
        read_graph(tmp_path / "g.tsv", query=tmp_path / "part.rq")


@pytest.mark.slow
def test_the_command_line_shows_retries_and_ends_at_once_when_it_is_interrupted(tmp_path):
    with endpoint(MIXED, failures=[503] * 99) as (address, _):
        command = [sys.executable, "-m", "kgalign", "info", f"sparql+{address}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            lines = [process.stderr.readline() for _ in range(2)]
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            rest = process.stderr.read()
            process.wait()
        assert time.monotonic() - began < 1.5
    assert [line.split("; ")[-1].strip() for line in lines] == ["trying again in 1 s", "trying again in 2 s"]
    assert (process.returncode, "Traceback" in rest) == (130, False)


@pytest.mark.slow
def test_the_command_line_takes_a_query_and_limits(tmp_path):
    query = write_query(tmp_path, "CONSTRUCT WHERE { ?s <http://x/r> ?o }")
    with hostile(answer_graph(MIXED)) as (address, _):
        command = [sys.executable, "-m", "kgalign", "info", f"sparql+{address}", "--query", query]
        done = subprocess.run([*command, "--json"], capture_output=True, text=True)
        assert json.loads(done.stdout)["graph"]["entities"] == 41, done.stderr
        done = subprocess.run([*command, "--limit", "answer=1KiB"], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert (
        "expected answers of at most 1,024 bytes, found more; if you trust it, set for instance --limit answer=2048" in done.stderr
    )
