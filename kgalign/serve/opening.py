"""Opens the review of a run: finds a place for its server, makes the token, and shows the address to a browser."""

from __future__ import annotations

import os
import secrets
import socket
import webbrowser
import zlib
from dataclasses import dataclass
from html import escape
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from kgalign.errors import OptionError
from kgalign.review.changes import Changes
from kgalign.review.session import ReviewSession
from kgalign.review.summary import Summary
from kgalign.runs import Run
from kgalign.serve.app import review_app
from kgalign.serve.server import Running, listen

LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
FIRST_PORT, PORTS = 20_000, 12_000  # below those that systems give to outgoing connections


@dataclass(frozen=True, eq=False, repr=False)
class Review:
    """A review that a browser can open. It ends with `close()`, at the end of a `with` block, or with the process.

    Attributes:
        address: What to open in a browser. Whoever has it can read the run and decide: it has the token.
        session: The review itself, for Python.
        running: Its server.
        is_public: Whether other machines may reach it.
        opener: The file that has led the browser to the address, if there is one.
    """

    address: str
    session: ReviewSession
    running: Running
    is_public: bool = False
    opener: Path | None = None

    @property
    def decisions(self) -> Path:
        """The file of decisions, for `align(decisions=...)`."""
        return self.session.path

    def summary(self) -> Summary:
        """The decisions so far, and what they say about the links."""
        return self.session.summary()

    def changes(self) -> Changes:
        """What the decisions have changed since the run."""
        return self.session.changes()

    def wait(self) -> None:
        """Returns when the review is closed; Ctrl-C ends the waiting."""
        while self.running.thread.is_alive():
            self.running.thread.join(0.5)

    def stop(self) -> None:
        """Ends the server, and waits for no run that goes on."""
        self.running.close()
        if self.opener is not None:
            self.opener.unlink(missing_ok=True)

    def close(self) -> None:
        """Ends the review. Its decisions are in their file."""
        self.stop()
        self.session.close()

    def __enter__(self) -> Review:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Review({self.address}, decisions in {self.decisions})"

    def _repr_html_(self) -> str:
        address = escape(self.address)
        link = f'<a href="{address}" target="_blank" rel="noopener noreferrer">{address}</a>'
        return f"<div>Review: {link}<br>decisions in {escape(str(self.decisions))}</div>"


def open_review(
    run: Run | str | Path,
    decisions: str | Path | None = None,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    browser: bool = True,
    **options: Any,
) -> Review:
    """The review of a run, which answers from now on.

    Args:
        run: A run, or the folder of one.
        decisions: The file of decisions; by default beside the run folder.
        host: The address at which the review can be reached; by default by this machine alone.
        port: The port. 0: one that belongs to the file of decisions, so that a page that is open finds the next server there, or else any
            that is free.
        browser: Whether the browser of this machine opens the page.
        options: More options of `ReviewSession.open`.

    Raises:
        OptionError: Nothing can be served at that address, or decisions cannot be kept there.
    """
    if not 0 <= port < 1 << 16:
        raise OptionError(f"port={port}: expected a number from 0 to 65535, 0 for any that is free")
    session = ReviewSession.open(run, decisions, **options)
    try:
        listener = _listen(host, port, session.path)
    except OptionError:
        session.close()
        raise
    token = secrets.token_urlsafe(32)
    title = Path(run).resolve().name if isinstance(run, str | Path) else session.path.name
    running = Running.start(review_app(session, title, token, _names_of(host)), listener)
    address = f"http://{_reachable(host)}:{listener.getsockname()[1]}/#{token}"
    opener = _open_browser(address, session.path) if browser else None
    return Review(address, session, running, not _is_loopback(host), opener)


def _open_browser(address: str, decisions: Path) -> Path:
    """Opens an address by way of a file that only this user can read, and returns the file.

    Everybody on this machine can read the command line of a browser, and the address has the token. The file lies beside the decisions,
    since some browsers see no folder for temporary files.
    """
    opener = decisions.with_suffix(".open.html")
    opener.unlink(missing_ok=True)
    with os.fdopen(os.open(opener, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(address)}"><title>kgalign review</title>\n')
    webbrowser.open(opener.as_uri())
    return opener


def _is_loopback(host: str) -> bool:
    """Whether only programs on this machine can reach an address."""
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int, decisions: Path) -> socket.socket:
    """A socket at the port; for port 0 at the one that belongs to a file, or else at any."""
    if port == 0:
        own = FIRST_PORT + zlib.crc32(str(decisions).encode("utf-8", "surrogateescape")) % PORTS
        try:
            return listen(host, own)
        except OptionError:
            pass  # somebody else has it
    return listen(host, port)


def _names_of(host: str) -> set[str]:
    """The names by which a browser may call a server at that address, beside addresses in figures."""
    names = {*LOOPBACK_NAMES, host.lower()}
    return names if _is_loopback(host) else names | {socket.gethostname().lower(), socket.getfqdn().lower()}


def _reachable(host: str) -> str:
    """The host as it is written in an address; where all addresses of the machine are served, the name of the machine."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:
        return socket.gethostname()
    return f"[{address}]" if address.version == 6 else str(address)
