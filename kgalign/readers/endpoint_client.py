"""Requests to a SPARQL endpoint: repeated after a temporary failure, and bounded in time, size and number."""

from __future__ import annotations

import logging
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from http.client import HTTPException, IncompleteRead
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TypeVar

from kgalign.errors import DataError, one_line
from kgalign.limits import Limits

logger = logging.getLogger(__name__)
Result = TypeVar("Result")
Wait = Callable[[float], None]  # passes so many seconds
SMALLEST_PAGE = 100
ATTEMPTS = 6
FEW_ATTEMPTS = 3  # where the host cannot be reached at all
LONGEST_WAIT = 60.0  # seconds
PART = 1 << 16  # bytes that are read at once
TEMPORARY = (408, 425, 429, 500, 502, 503, 504)  # HTTP statuses after which the same request may succeed
LONGEST_PROBLEM = 200  # characters


class MalformedAnswerError(Exception):
    """An answer that is whole, but not what was asked for: asking again would not help."""


class _TooLongError(Exception):
    """An answer is above its limit."""


class Client:
    """Sends queries to one endpoint. After a failure it asks for smaller pages.

    Attributes:
        endpoint: The address.
        page: The number of rows to ask for at once.
    """

    def __init__(self, endpoint: str, page: int, timeout: float, wait: Wait, limits: Limits) -> None:
        self.endpoint, self.page = endpoint, page
        self._timeout, self._wait, self._limits = timeout, wait, limits
        self._requests = 0
        self._end = time.monotonic() + limits.seconds

    def ask(self, query: Callable[[int], str], accept: str, understood: Callable[[bytes, str], Result]) -> Result:
        """The understood answer to a query.

        Args:
            query: The query for pages of so many rows.
            accept: The media types to ask for.
            understood: What an answer means, from its bytes and its media type. A `ValueError` says that it is not whole.
        """
        for attempt in range(1, ATTEMPTS + 1):
            least_wait, is_last = 0.0, attempt == ATTEMPTS
            text, smaller = query(self.page), max(SMALLEST_PAGE, self.page // 2)
            try:
                return understood(*self._answer(text, accept))
            except MalformedAnswerError as error:
                problem, is_last = str(error), True
            except _TooLongError:
                if is_last or query(smaller) == text:
                    raise self._limits.exceeded(self.endpoint, "answer", "answers of") from None
                self.page = smaller
                continue
            except urllib.error.HTTPError as error:
                problem, least_wait = f"it answered {error.code} {error.reason}", _seconds(error.headers.get("Retry-After"))
                is_last |= error.code not in TEMPORARY
                error.close()
            except (urllib.error.URLError, OSError, HTTPException, ValueError) as error:
                cause = error.reason if isinstance(error, urllib.error.URLError) else error
                if isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN:
                    raise DataError(f"{self.endpoint}: cannot find the host {self._host()}; is the address right?") from None
                problem = self._in_words(cause)
                is_last |= attempt >= FEW_ATTEMPTS and isinstance(cause, socket.gaierror | ConnectionRefusedError)
            problem = one_line(problem, LONGEST_PROBLEM)
            if is_last:
                times = f" {attempt} times" if attempt > 1 else ""
                raise DataError(
                    f"{self.endpoint}: expected the results of a SPARQL query, but{times} {problem}; is the address right, "
                    "and the endpoint up?"
                )
            self.page = smaller
            self._pause(problem, min(LONGEST_WAIT, max(least_wait, 2.0 ** (attempt - 1))))
        raise AssertionError("the last attempt returns or raises")

    def _in_words(self, cause: BaseException | str) -> str:
        """What kept an answer from coming."""
        if isinstance(cause, socket.gaierror):
            return f"it cannot find the host {self._host()}"
        if isinstance(cause, ConnectionRefusedError):
            return f"the host {self._host()} refused the connection"
        return str(cause) or type(cause).__name__

    def _host(self) -> str:
        return urllib.parse.urlsplit(self.endpoint).netloc.rpartition("@")[2]

    def _pause(self, problem: str, seconds: float) -> None:
        if seconds > self._seconds_left():
            logger.info("%s: %s", self.endpoint, problem)
            raise self._too_slow()
        logger.info("%s: %s; trying again in %.0f s", self.endpoint, problem, seconds)
        self._wait(seconds)

    def _answer(self, query: str, accept: str) -> tuple[bytes, str]:
        """The bytes and the media type of an answer."""
        self._requests += 1
        if self._requests > self._limits.requests:
            raise self._limits.exceeded(self.endpoint, "requests", "an endpoint that is read with")
        left = self._seconds_left()
        if left <= 0:
            raise self._too_slow()
        body = urllib.parse.urlencode({"query": query}).encode()
        request = urllib.request.Request(self.endpoint, body, {"Accept": accept, "User-Agent": "kgalign"})
        try:
            return _fetch(request, min(self._timeout, left), self._limits.answer)
        except TimeoutError:
            if self._seconds_left() <= 0:
                raise self._too_slow() from None
            raise

    def _seconds_left(self) -> float:
        return self._end - time.monotonic()

    def _too_slow(self) -> DataError:
        return self._limits.exceeded(self.endpoint, "seconds", "an endpoint that is read within")


def _fetch(request: urllib.request.Request, seconds: float, most: int) -> tuple[bytes, str]:
    """The bytes and the media type of an answer. No endpoint can make it last longer, however slowly it sends.

    A thread waits for the endpoint: a time limit of a socket begins anew with every byte, and no name server has one.
    """
    answers = SimpleQueue[tuple[bytes, str] | BaseException]()
    stopped = Event()
    Thread(target=_download, args=(request, seconds, most, stopped, answers), daemon=True).start()
    try:
        found = answers.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"there was no whole answer within {seconds:.0f} s") from None
    finally:
        stopped.set()
    if isinstance(found, BaseException):
        raise found
    return found


def _download(
    request: urllib.request.Request,
    seconds: float,
    most: int,
    stopped: Event,
    answers: SimpleQueue[tuple[bytes, str] | BaseException],
) -> None:
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            parts: list[bytes] = []
            size = 0
            while not stopped.is_set() and (part := answer.read1(PART)):
                parts.append(part)
                size += len(part)
                if size > most:
                    raise _TooLongError
            if answer.length:
                raise IncompleteRead(b"", answer.length)
            answers.put((b"".join(parts), answer.headers.get_content_type()))
    except BaseException as error:  # it is raised where the answer is waited for
        answers.put(error)


def _seconds(text: str | None) -> float:
    return float(text) if text and text.isdecimal() and len(text) < 9 else 0.0
