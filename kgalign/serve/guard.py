"""Which requests are let in: those of our own page, with the token, small and in time. And what a browser may do with the answers."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from hmac import compare_digest
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

API = "/api/"
MOST_BODY = 64 * 1024  # bytes
BODY_SECONDS = 10.0
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True)
class Guard:
    """An ASGI application around another one, which answers requests that it does not let in.

    The page itself holds no data and needs no token. Everything else does, in a header that other sites cannot send, and that no link or
    referrer gives away.

    Attributes:
        app: What it guards.
        token: The secret that requests must have.
        hosts: The names by which the server may be called, in small letters. Other names are refused, since whoever owns a name can let it
            point here. Addresses in figures cannot be taken over like that.
    """

    app: ASGIApp
    token: str
    hosts: Collection[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a web socket is closed

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        body = b""
        if refusal is None and scope["method"] == "POST":
            body, refusal = await _read_body(headers, receive)
        if refusal is None:
            await self.app(scope, _with_body(body, receive), send_with_headers)
        else:
            status, reason = refusal
            closing = {"Connection": "close"} if scope["method"] == "POST" else None  # what is left of the body is not read
            await JSONResponse({"error": reason}, status, closing)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Why a request is not let in; None: it is."""
        host = headers.getlist("host")
        if len(host) != 1 or not self._is_ours(host[0]):
            return HTTPStatus.FORBIDDEN, "the address is not that of this server: open the one that the command has printed"
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host[0]}", f"https://{host[0]}"):
            return HTTPStatus.FORBIDDEN, "the request comes from another site"
        if not scope["path"].startswith(API):
            return None
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return HTTPStatus.FORBIDDEN, "the request comes from another site"
        if not compare_digest(headers.get("authorization", "").encode(), f"Bearer {self.token}".encode()):
            return HTTPStatus.UNAUTHORIZED, "the token is missing or old: open the address that the command has printed"
        if scope["method"] == "POST" and headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected a body of the type application/json"
        return None

    def _is_ours(self, host: str) -> bool:
        """Whether the value of the header `Host` names this server: one of its names, or an address in figures, with any port."""
        name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "")
        if port and not port.isdecimal():
            return False
        if name.lower() in self.hosts:
            return True
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True


async def _read_body(headers: Headers, receive: Receive) -> tuple[bytes, tuple[int, str] | None]:
    """The whole body of a request, or why it is not taken."""
    too_large = HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is larger than {MOST_BODY // 1024} KiB"
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) > MOST_BODY:
        return b"", too_large
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return b"", (HTTPStatus.BAD_REQUEST, "the request has ended early")
                body += message.get("body", b"")
                if len(body) > MOST_BODY:
                    return b"", too_large
                if not message.get("more_body", False):
                    return body, None
    except TimeoutError:
        return b"", (HTTPStatus.REQUEST_TIMEOUT, f"the body did not arrive within {BODY_SECONDS:.0f} seconds")


def _with_body(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the whole body first."""
    waiting = [body]

    async def receive_body() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return receive_body
