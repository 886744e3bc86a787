"""Download of one file over HTTP; afterwards the target is complete and verified, or absent.

A transfer is written to ``<target>.part``, checked, and then renamed. An interrupted transfer is resumed by a range
request with ``If-Range``, and checked at the end. A temporary failure (5xx, 429, reset, truncated body, stall) is
retried; a permanent one (404, HTML instead of data) is not. An unreachable host is stored, so that the next URL on it
fails at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from queue import Empty, SimpleQueue
from urllib.parse import unquote, urlsplit

import requests
import tenacity
import urllib3
from tqdm import tqdm

from shuffledp.pipeline.datasets.hosts import down, is_unreachable, no_network, remember
from shuffledp.pipeline.datasets.partial import Part, part_of
from shuffledp.pipeline.datasets.source_errors import DownloadError, local
from shuffledp.pipeline.datasets.transfer_limits import BLOCK, LEAST, Pace
from shuffledp.storage import sha256_of

_HTML = (b"<!doctype html", b"<html", b"<head", b"<body")


class _PassingError(DownloadError):
    """Temporary error, after which a transfer is tried again."""

    wait: float | None = None  # seconds the server asked for
    stalled = False


def _stalled(message: str) -> _PassingError:
    error = _PassingError(message)
    error.stalled = True
    return error


class _CorruptError(DownloadError):
    """Error of a complete body that fails its check; one transfer from byte zero follows."""


# ---- one attempt ---------------------------------------------------------------------------------


def _request(url: str, headers: dict[str, str], timeout: tuple[float, float]) -> requests.Response:
    """Return the response with its header; a thread limits the total time for a slow header."""
    answers: SimpleQueue[requests.Response | BaseException] = SimpleQueue()

    given_up = threading.Event()

    def ask() -> None:
        try:
            response = requests.get(url, headers=headers, timeout=timeout, stream=True)
        except BaseException as error:  # raised where it is waited for
            answers.put(error)
            return
        if given_up.is_set():
            response.close()
        answers.put(response)

    threading.Thread(target=ask, daemon=True).start()
    answer: requests.Response | BaseException | None = None
    try:
        answer = answers.get(timeout=2.0 * sum(timeout))
        if isinstance(answer, BaseException):
            raise answer
        return answer
    except Empty:
        given_up.set()
        raise _stalled(f"{url}: no complete answer within {2.0 * sum(timeout):g} s.") from None
    except requests.exceptions.SSLError as error:
        raise DownloadError(
            f"{url}: the secure connection failed ({error}). Check the date of this machine and its "
            f"certificates."
        ) from error
    except requests.exceptions.ConnectionError as error:
        if is_unreachable(error):
            remember(url, "connection failed")
            raise no_network(url, "connection failed") from error
        raise _PassingError(f"{url}: the connection broke before an answer ({error}).") from error
    except requests.exceptions.Timeout as error:
        raise _stalled(f"{url}: no answer within {timeout[1]:g} s.") from error
    except requests.exceptions.RequestException as error:
        raise DownloadError(f"{url}: the request failed ({error}). Check the address.") from error
    finally:
        del answer  # an error that its own traceback refers to would keep the connection


def _check_status(url: str, response: requests.Response) -> None:
    status = response.status_code
    if status in (200, 206, 416):
        return
    problem = f"{url}: the server answered {status} {response.reason}."
    if status in (408, 425, 429) or status >= 500:
        error = _PassingError(problem)
        after = response.headers.get("Retry-After", "")
        error.wait = float(after) if after.isdigit() else None
        raise error
    raise DownloadError(f"{problem} Check whether the file has moved, or use a mirror (SHUFFLEDP_MIRROR).")


def _continues_at(response: requests.Response, offset: int) -> bool:
    return response.headers.get("Content-Range", "").strip().startswith(f"bytes {offset}-")


def _validator(response: requests.Response) -> str:
    tag = response.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified", "")


def _refuse_html(url: str, response: requests.Response, block: bytes) -> None:
    kind = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml") or block.lstrip()[:32].lower().startswith(_HTML):
        raise DownloadError(
            f"{url}: the server sent a web page (HTML) instead of the data. Open the address in a "
            f"browser: it may "
            "ask for a login (captive portal), or the file may have moved."
        )


def _transfer(
    url: str,
    part: Part,
    *,
    limit: int,
    timeout: tuple[float, float],
    least: tuple[float, float],
    progress: bool,
) -> None:
    """Continue the transfer into `part` to the end of the body, from its current size if the server permits."""
    offset, origin = part.size(), part.origin()
    if offset and origin.get("url") != url:
        part.discard()
        offset = 0
    headers = {"Accept-Encoding": "identity", "User-Agent": "shuffledp (reproducible experiments)"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
        if origin.get("validator"):
            headers["If-Range"] = origin["validator"]
    with _request(url, headers, timeout) as response:
        _check_status(url, response)
        if response.status_code == 416 and offset:
            return  # nothing beyond what we have: the check decides whether that is the file
        if response.status_code != 200 and not (offset and _continues_at(response, offset)):
            part.discard()
            raise _PassingError(f"{url}: the server sent a part of the file that was not requested.")
        if response.status_code == 200:
            offset = 0
        length = response.headers.get("Content-Length", "")
        total = offset + int(length) if length.isdigit() else None
        if max(total or 0, offset) > limit:
            part.discard()
            raise _CorruptError(f"{url}: the server announces {total} bytes, expected {limit}.")
        pace = Pace(least)
        blocks = _blocks(url, response, timeout)
        first = next(blocks, b"")
        if offset == 0:
            _refuse_html(url, response, first)
            part.begin(url, _validator(response))
        name = unquote(urlsplit(url).path.rsplit("/", 1)[-1])
        part.handle.seek(offset)
        with tqdm(
            total=total,
            initial=offset,
            unit="B",
            unit_scale=True,
            desc=name,
            disable=None if progress else True,
        ) as bar:
            received = offset
            for block in chain((first,), blocks):
                received += len(block)
                if received > limit:
                    part.discard()
                    raise _CorruptError(f"{url}: the server sent more than the expected {limit} bytes.")
                try:
                    part.handle.write(block)
                except OSError:
                    part.discard()
                    raise
                bar.update(len(block))
                if pace.too_slow(received - offset):
                    raise _stalled(f"{url}: the transfer is too slow, {pace}.")
        part.handle.flush()
        if total is not None and received < total:
            raise _PassingError(f"{url}: the body ended after {received} of {total} bytes.")


def _blocks(url: str, response: requests.Response, timeout: tuple[float, float]) -> Iterator[bytes]:
    """Yield the body without decoding, so that a ``.gz`` file stays compressed with any headers."""
    try:
        while block := response.raw.read1(
            BLOCK, decode_content=False
        ):  # what is there, without waiting for more
            yield block
    except urllib3.exceptions.ReadTimeoutError as error:
        raise _stalled(f"{url}: the transfer stalled, nothing came for {timeout[1]:g} s.") from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise _PassingError(f"{url}: the body was cut short ({error}).") from error


# ---- all attempts --------------------------------------------------------------------------------


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    size: int | None = None,
    limit: int = 1 << 30,
    check: Callable[[Path], str | None] | None = None,
    timeout: tuple[float, float] = (4.0, 20.0),
    least: tuple[float, float] = LEAST,
    attempts: int = 4,
    wait: float = 1.0,
    progress: bool = True,
) -> Path:
    """Download `url` to `target`."""
    if (reason := down(url)) is not None:
        raise no_network(url, reason)
    corrupt = 0

    def again(error: BaseException) -> bool:
        nonlocal corrupt
        corrupt += isinstance(error, _CorruptError)
        return isinstance(error, _PassingError) or (isinstance(error, _CorruptError) and corrupt < 2)

    def pause(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, _CorruptError):
            return 0.0
        asked = error.wait if isinstance(error, _PassingError) else None
        return min(wait * 2.0 ** (state.attempt_number - 1), 20.0) if asked is None else min(asked, 30.0)

    def attempt(part: Part) -> None:
        _transfer(
            url, part, limit=limit if size is None else size, timeout=timeout, least=least, progress=progress
        )
        problem = _problem(part.path, sha256, size, check)
        if problem is not None:
            part.discard()
            raise _CorruptError(f"{url}: wrong content: {problem}.")
        part.path.replace(target)

    retrying = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(max(attempts, 1)),
        retry=tenacity.retry_if_exception(again),
        wait=pause,
        reraise=True,
    )
    with local(target), part_of(target) as part:
        try:
            retrying(attempt, part)
        except _CorruptError as error:
            raise DownloadError(
                f"{error} Nothing was kept. Run again; if it persists, the file at this address has "
                f"changed: use "
                "a mirror with the original (SHUFFLEDP_MIRROR)."
            ) from error
        except _PassingError as error:
            if error.stalled:
                remember(url, "it does not answer in time")
            raise DownloadError(
                f"{error} Gave up after {max(attempts, 1)} attempts. Try again later, or use a mirror "
                "(SHUFFLEDP_MIRROR)."
            ) from error
    return target


def _problem(
    path: Path, sha256: str | None, size: int | None, check: Callable[[Path], str | None] | None
) -> str | None:
    found = path.stat().st_size
    if size is not None and found != size:
        return f"{found} bytes, expected {size}"
    if sha256 is not None and (digest := sha256_of(path)) != sha256:
        return f"sha256 {digest}, expected {sha256}"
    return check(path) if check is not None else None
