"""The server of the review: whom it lets in, what it refuses, and how it begins and ends."""

import json
import socket
import subprocess
import sys
import time

import pytest
from served import Served, aligned

from kgalign import OptionError, Run, align
from kgalign.runs import read_task

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

CITIES = ("Lisboa", "Porto", "Coimbra", "Braga", "Faro", "Évora", "Setúbal", "Aveiro")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The run of two graphs of eight cities."""
    folder = tmp_path_factory.mktemp("review")
    for side, ending in (("left", ""), ("right", "e")):
        rows = "".join(f"{side}/{number},{city}{ending},{1000 + number}\n" for number, city in enumerate(CITIES))
        (folder / f"{side}.csv").write_text(f"id,name,founded\n{rows}", "utf-8")
    return aligned(folder / "run", (folder / "left.csv", folder / "right.csv"))


@pytest.fixture(scope="module")
def served(run, tmp_path_factory):
    with Served(run, "--decisions", str(tmp_path_factory.mktemp("log") / "decisions.jsonl")) as served:
        yield served


def decision(served, **changes):
    """A decision about the next link of an author."""
    author = changes.get("author", "ann")
    item = served.ask(f"/api/next?author={author}")[1]
    target = item["target"]["iri"] if item["target"] else ""
    body = {"author": author, "source": item["source"]["iri"], "target": target, "verdict": "match", "request": f"{time.time_ns()}"}
    return {**body, "drawn": item["drawn"], "probability": item["probability"], **changes}


def lines(served):
    return served.ask("/api/summary")[1]["decided"]


@pytest.mark.parametrize(
    "path", ["start", "next?author=ann", "links", "search?text=a", "above?line=0.5", "summary", "changes", "export"]
)
def test_nothing_of_the_run_is_read_without_the_token(served, path):
    assert served.ask(f"/api/{path}")[0] == 200
    for value in (None, "Bearer ", "Bearer none", f"Bearer {served.token}x", f"Basic {served.token}", served.token):
        status, answer, _ = served.ask(f"/api/{path}", Authorization=value)
        assert status == 401
        assert list(answer) == ["error"]
    assert served.ask(f"/api/{path}&token={served.token}#{served.token}", Authorization=None)[0] == 401


@pytest.mark.parametrize("path", ["decide", "undo", "accept", "go-on"])
def test_nothing_is_changed_without_the_token_or_by_a_form_of_another_site(served, path):
    before, body = lines(served), decision(served)
    for headers in (
        {"Authorization": None},
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
        {"Content_Type": None},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"http://127.0.0.1:{served.port + 1}"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Host": "evil.example"},
    ):
        assert served.ask(f"/api/{path}", body, **headers)[0] in (401, 403, 415), headers
    assert served.ask(f"/api/{path}")[0] == 405
    assert lines(served) == before


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "", "127.0.0.1.evil.example", "localhost.evil.example", "a:b:c", "localhost:x"]
)
def test_a_name_that_somebody_has_pointed_here_is_refused(served, host):
    for path in ("/", "/review.js", "/api/start"):
        assert served.ask(path, Host=host)[0] == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1234", "127.0.0.1", "[::1]:80", "192.168.1.7:8000"])
def test_the_names_and_addresses_of_this_machine_are_taken(served, host):
    assert served.ask("/api/start", Host=host)[0] == 200
    assert served.ask("/api/start", Host=host, Origin=f"http://{host}")[0] == 200


def test_every_answer_tells_the_browser_to_trust_nothing_else(served):
    for path in ("/", "/review.css", "/drawing.js", "/api/start", "/api/none", "/none"):
        headers = served.ask(path)[2]
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in headers
        assert "Set-Cookie" not in headers
    assert served.ask("/review.js")[2]["Content-Type"].startswith("text/javascript")
    page = served.ask("/")[1]
    assert "<style" not in page
    assert " style=" not in page
    assert all(" src=" in tag for tag in page.split("<script")[1:])
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_bodies_are_bounded(served):
    assert served.ask("/api/decide", raw=b"x" * 70_000)[0] == 413
    assert served.ask("/api/decide", raw=b"{}", Content_Length="9" * 30)[0] in (400, 413)
    chunks = b"".join(b"1000\r\n" + b"x" * 4096 + b"\r\n" for _ in range(20)) + b"0\r\n\r\n"
    assert served.ask("/api/decide", raw=chunks, Transfer_Encoding="chunked", Content_Length=None)[0] == 413
    assert served.ask("/api/search?text=" + "x" * 9000)[0] == 400
    assert served.ask("/api/search?text=" + "x" * 60_000)[0] in (400, 431)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"nonsense",
        b"\xff\xfe",
        b"null",
        b"[" * 50_000,
        b'{"author": "ann"}',
        b'{"author": 7}',
        b'{"author": "\\ud800"}',
    ],
)
def test_a_body_that_is_no_decision_is_refused_in_one_line(served, body):
    status, answer, _ = served.ask("/api/decide", raw=body)
    assert status == 400
    assert list(answer) == ["error"]
    assert "\n" not in answer["error"]


@pytest.mark.parametrize(
    "changes",
    [
        {"author": ""},
        {"author": "x" * 81},
        {"source": "http://nowhere"},
        {"target": "http://nowhere"},
        {"verdict": "maybe"},
        {"request": ""},
        {"probability": 7},
        {"probability": "x"},
        {"probability": 10**400},
        {"drawn": "never"},
        {"target": ""},
    ],
)
def test_a_decision_that_makes_no_sense_is_refused_and_not_kept(served, changes):
    before, body = lines(served), decision(served)
    status, answer, _ = served.ask("/api/decide", {**body, **changes})
    assert status == 400, answer
    assert lines(served) == before


@pytest.mark.parametrize(
    "path",
    [
        "next",
        "item?source=none",
        "links?offset=-1",
        "links?limit=x",
        "links?sort=none",
        "above?line=2",
        "above",
        "links?from=x",
        "links?round=x",
    ],
)
def test_a_question_that_makes_no_sense_is_refused_in_one_line(served, path):
    status, answer, _ = served.ask(f"/api/{path}")
    assert status == 400
    assert "\n" not in answer["error"]


def test_a_request_that_is_repeated_decides_and_undoes_once(served):
    before, body = lines(served), decision(served, author="cleo")
    first = served.ask("/api/decide", body)
    assert first[0] == 200
    assert served.ask("/api/decide", body)[1] == first[1]
    assert lines(served) == before + 1
    undo = {"author": "cleo", "request": "undo-1"}
    assert [served.ask("/api/undo", undo)[1]["id"] for _ in range(3)] == [body["request"]] * 3
    assert lines(served) == before
    assert served.ask("/api/undo", {"author": "cleo", "request": "undo-2"})[1] is None


def test_links_are_accepted_only_as_many_as_were_shown(served):
    found = served.ask("/api/above?line=0.2")[1]
    body = {"author": "dora", "line": 0.2, "filters": {}, "links": found["links"] + 1, "request": "accept-1"}
    status, answer, _ = served.ask("/api/accept", body)
    assert status == 400
    assert "look at them again" in answer["error"]
    body |= {"links": found["links"], "request": "accept-2"}
    assert [served.ask("/api/accept", body)[1] for _ in range(2)] == [{"accepted": found["links"]}] * 2
    assert served.ask("/api/undo", {"author": "dora", "request": "undo-3"})[0] == 200
    assert served.ask("/api/above?line=0.2")[1] == found


def test_a_file_of_decisions_that_fails_is_no_fault_of_the_request(run, tmp_path):
    log = tmp_path / "decisions.jsonl"
    with Served(run, "--decisions", str(log)) as served:
        body = decision(served)
        for harm in (log.unlink, lambda: log.write_text("nonsense\n", "utf-8")):
            harm()
            status, answer, _ = served.ask("/api/decide", body)
            assert status == 507
            assert str(log) in answer["error"]
            assert "\n" not in answer["error"]
        log.write_text("", "utf-8")
        assert served.ask("/api/decide", body)[0] == 200


def test_who_sends_nothing_is_not_waited_for(run, tmp_path, monkeypatch):
    from kgalign.serve import guard, opening, server

    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.3)
    with opening.open_review(run, tmp_path / "decisions.jsonl", browser=False) as review:
        host, port = review.running.listener.getsockname()
        head = b"POST /api/undo HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
        for sent in (b"", b"GET / HTTP/1.1\r\nHost:", head % review.address.split("#")[1].encode() + b"Content-Length: 9\r\n\r\n{"):
            with socket.create_connection((host, port), timeout=20) as connection:
                connection.sendall(sent)
                began, answer = time.monotonic(), b""
                while block := connection.recv(4096):
                    answer += block
                assert time.monotonic() - began < 10
                assert answer == b"" or answer.startswith(b"HTTP/1.1 408 ")


def test_ctrl_c_ends_it_soon_and_says_where_the_decisions_are(run, tmp_path):
    log = tmp_path / "decisions.jsonl"
    with Served(run, "--decisions", str(log)) as served:
        assert served.ask("/api/decide", decision(served))[0] == 200
        status, said, seconds = served.interrupt()
    assert status == 0
    assert f"The decisions are in {log}" in said
    assert "Traceback" not in said
    assert seconds < 20  # a second or two on a machine that has nothing else to do
    assert len(log.read_text("utf-8").splitlines()) == 1


def test_the_next_server_of_a_run_is_found_at_the_same_port_unless_that_is_taken(run, tmp_path):
    options = ("--decisions", str(tmp_path / "decisions.jsonl"))
    with Served(run, *options) as first:
        with Served(run, *options) as second:
            assert second.port != first.port
            assert second.token != first.token
            assert second.ask("/api/start", Authorization=f"Bearer {first.token}")[0] == 401
        port = first.port
    with Served(run, *options) as third:
        assert third.port == port


def test_other_addresses_than_loopback_say_what_they_mean(run, tmp_path):
    with Served(run, "--decisions", str(tmp_path / "decisions.jsonl"), "--host", "0.0.0.0") as served:
        assert served.host == socket.gethostname()
        served.host = "127.0.0.1"
        assert served.ask("/api/start", Host="evil.example")[0] == 403
        assert served.ask("/api/start", Host=socket.gethostname())[0] == 200
        _, said, _ = served.interrupt()
    assert "Whoever can reach 0.0.0.0 and has the address can read the run and decide. Nothing is encrypted" in said


@pytest.mark.parametrize(
    "options", [["--host", "no.such.host.invalid"], ["--host", "203.0.113.7"], ["--port", "TAKEN"], ["--decisions", "/"]]
)
def test_a_place_where_nothing_can_be_served_is_refused_in_one_line(run, tmp_path, options):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        options = [option.replace("TAKEN", str(taken.getsockname()[1])) for option in options]
        given = options if "--decisions" in options else [*options, "--decisions", str(tmp_path / "decisions.jsonl")]
        ended = review_command(run, *given)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("kgalign: ")
    assert ended.stderr.count("\n") == 1


def test_a_folder_that_is_no_run_is_refused_in_one_line(tmp_path):
    ended = review_command(tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "expected a run folder" in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_one_line_says_what_to_install(run):
    refuse = "import sys; sys.modules.update(dict.fromkeys(('starlette', 'uvicorn')))"
    code = f"{refuse}; sys.argv = ['kgalign', 'review', {str(run)!r}]; from kgalign.cli import main; main()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "kgalign: the service review needs starlette: pip install 'kgalign[web]'\n"


def review_command(run, *options):
    command = [sys.executable, "-m", "kgalign", "review", str(run), "--no-browser", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_run_in_python_is_reviewed_while_python_goes_on(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    task, _ = read_task(run)
    found = align(task, model="names")
    with found.review(browser=False) as review:
        assert review.address.startswith("http://127.0.0.1:")
        assert review.decisions == tmp_path / "decisions.jsonl"
        item = review.session.next("ann")
        review.session.decide("ann", *item.pair, "match", request="1")
        assert review.summary().decided == 1
        assert review.address in review._repr_html_()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(review.address.split(":")[2].split("/")[0])))
    assert json.loads((tmp_path / "decisions.jsonl").read_text("utf-8"))["verdict"] == "match"


def test_ports_that_do_not_exist_are_refused():
    with pytest.raises(OptionError, match="port=70000: expected a number from 0 to 65535"):
        Run.review(None, port=70_000, browser=False)
