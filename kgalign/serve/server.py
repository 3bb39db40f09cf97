"""A small web server in a thread of this process: its place, its end, and how long it waits for anybody."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from dataclasses import dataclass

import h11
from starlette.types import ASGIApp
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from kgalign.drafts import reason_of
from kgalign.errors import OptionError

HEAD_SECONDS = 10.0  # until the head of a request must be there
END_SECONDS = 3.0  # until answers that are being made are given up
MOST_CONNECTIONS = 200
LONGEST_HEAD = 32 * 1024  # bytes


@dataclass(frozen=True)
class Running:
    """A server that answers, until `close`.

    Attributes:
        server: The server.
        thread: The thread in which it works.
        listener: Its socket.
    """

    server: Server
    thread: threading.Thread
    listener: socket.socket

    @classmethod
    def start(cls, app: ASGIApp, listener: socket.socket) -> Running:
        """Serves an application at a socket, from now on."""
        config = Config(
            app,
            http=BoundedProtocol,
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=int(END_SECONDS),
            h11_max_incomplete_event_size=LONGEST_HEAD,
        )
        server = Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="kgalign server", daemon=True)
        thread.start()
        return cls(server, thread, listener)

    def close(self) -> None:
        """Ends the server. Answers that are being made have a few seconds."""
        self.server.should_exit = True
        self.thread.join(2 * END_SECONDS)
        self.listener.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address. Port 0: any that is free.

    Raises:
        OptionError: The address is not one of this machine, or somebody else has it.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError, OverflowError):
        raise OptionError(f"host {host!r}: expected a name or an address of this machine, such as 127.0.0.1") from None
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # on Windows the option means something else
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen()
    except OSError as error:
        listener.close()
        raise OptionError(
            f"{host} port {port}: nothing can be served there ({reason_of(error)}); expected an address of this machine and a free port"
        ) from None
    return listener


class BoundedProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, but a connection on which no whole head of a request arrives in time is closed."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and self.conn.our_state is h11.IDLE:
            self._wait_for_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
