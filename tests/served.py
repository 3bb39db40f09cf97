"""A review that `kgalign review` serves in a process of its own, and requests to it."""

import http.client
import json
import os
import select
import signal
import subprocess
import sys
import time
from urllib.parse import urlsplit

PATIENCE = 120  # seconds


class Served:
    """The server of a run folder; `address` is what the command has printed."""

    def __init__(self, run, *options):
        self.run, self.options = run, options
        self.start()

    def start(self):
        """Starts it, also once more after its end."""
        command = [sys.executable, "-m", "kgalign", "review", str(self.run), "--no-browser", *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        assert ready, "the server does not start"
        self.address = self.process.stdout.readline().decode().strip()
        assert self.address, self.process.stderr.read().decode()
        parts = urlsplit(self.address)
        self.host, self.port, self.token = parts.hostname, parts.port, parts.fragment

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)

    def interrupt(self):
        """Presses Ctrl-C; the exit code, what was written to stderr, and the seconds until the end."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors.decode(), time.monotonic() - began

    def ask(self, path, body=None, **headers):
        """The status, the answer and the headers. With a body: a POST. A header of None is left out; `raw` is a body as it is."""
        raw = headers.pop("raw", None)
        given = {"Authorization": f"Bearer {self.token}"}
        if body is not None or raw is not None:
            given["Content-Type"] = "application/json"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.putrequest("GET" if body is None and raw is None else "POST", path, skip_host="Host" in given)
            content = raw if raw is not None else None if body is None else json.dumps(body).encode()
            if content is not None:
                given.setdefault("Content-Length", str(len(content)))
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(content)
            answer = connection.getresponse()
            text = answer.read().decode()
            is_json = answer.headers.get_content_type() == "application/json"
            return answer.status, json.loads(text) if is_json else text, answer.headers
        finally:
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()


def aligned(folder, graphs, *options):
    """A run folder of graphs by names alone, which takes a second or two."""
    command = [sys.executable, "-m", "kgalign", "align", *map(str, graphs), "--model", "names", "--max-rounds", "0", *options]
    subprocess.run([*command, "-o", str(folder)], check=True, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder
