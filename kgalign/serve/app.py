"""The review as an application that any ASGI server can run: the files of the page, and the requests that the page makes."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Collection
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from kgalign.errors import KgalignError, OptionError, one_line
from kgalign.explain import report
from kgalign.review.log import LogError
from kgalign.review.session import ReviewSession
from kgalign.serve.guard import API, Guard
from kgalign.serve.requests import CHANGES, READS, Given

PAGE = Path(__file__).parent / "page"
SHARED = Path(report.__file__).parent  # the review looks as the report does
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}  # systems may name others
FILES = {
    "": PAGE / "review.html",
    **{path.name: path for path in sorted(PAGE.iterdir()) if path.suffix in TYPES},
    **{name: SHARED / name for name in ("report.css", "drawing.js")},
}
log = logging.getLogger(__name__)


def review_app(session: ReviewSession, title: str, token: str, hosts: Collection[str]) -> ASGIApp:
    """The application.

    Args:
        session: The review.
        title: The name of the run, for the page.
        token: The secret that every request of the page has.
        hosts: The names by which the server may be called, see `Guard`.
    """

    def start(session: ReviewSession, given: Given) -> Any:
        """What the page needs first. `log` tells the decisions that this page has not sent yet from those of other runs."""
        place = str(session.path)
        return {"title": title, "decisions": place, "log": hashlib.sha256(place.encode("utf-8", "replace")).hexdigest()[:16]}

    routes = [Route(f"/{name}", _file(path)) for name, path in FILES.items()]
    routes += [Route(API + name, _answer(session, call, _address)) for name, call in {"start": start, **READS}.items()]
    routes += [Route(API + name, _answer(session, call, _body), methods=["POST"]) for name, call in CHANGES.items()]
    return Guard(Starlette(routes=routes, exception_handlers={HTTPException: _refuse, Exception: _fail}), token, hosts)


def _file(path: Path) -> Callable[[Request], Awaitable[Response]]:
    async def send(request: Request) -> Response:
        return FileResponse(path, media_type=TYPES[path.suffix])

    return send


def _answer(
    session: ReviewSession, call: Callable[[ReviewSession, Given], Any], read: Callable[[Request], Awaitable[Given]]
) -> Callable[[Request], Awaitable[Response]]:
    """An answer to one kind of request. The session works in a thread, so that others are answered meanwhile."""

    async def answer(request: Request) -> Response:
        try:
            return JSONResponse(await run_in_threadpool(call, session, await read(request)))
        except LogError as error:  # nothing is wrong with the request: the page keeps what it wanted to say, and tries again
            return JSONResponse({"error": str(error)}, HTTPStatus.INSUFFICIENT_STORAGE)
        except KgalignError as error:
            return JSONResponse({"error": str(error)}, HTTPStatus.BAD_REQUEST)

    return answer


async def _address(request: Request) -> Given:
    return dict(request.query_params)


async def _body(request: Request) -> Given:
    try:
        given = json.loads(await request.body())
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise OptionError("expected a JSON object")
    return given


async def _refuse(request: Request, error: Exception) -> Response:
    """An address that does not exist, or a method that it does not have."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": one_line(error.detail)}, error.status_code, error.headers)


async def _fail(request: Request, error: Exception) -> Response:
    """A mistake in kgalign: the page keeps what it wanted to say, and tries again."""
    log.error("the review could not answer %s: %s: %s", request.url.path, type(error).__name__, error)
    return JSONResponse({"error": one_line(f"{type(error).__name__}: {error}", 300)}, HTTPStatus.INTERNAL_SERVER_ERROR)
