"""Downloads by pooch, which retries and verifies them: a file is complete and has the published content, or is absent.

A file may be packed by gzip or a member of a zip file at its address. The downloader writes the unpacked content, so
that one checksum serves every packing. A lasting error (404, HTML instead of data, no connection, a loop of redirects)
is not retried.
"""

from __future__ import annotations

import errno
import stat
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import unquote, urlsplit

import pooch
import requests
import urllib3
from tqdm import tqdm

from shuffledp.pipeline.datasets.content import content_of, problem_of
from shuffledp.pipeline.datasets.registry import Location, spec
from shuffledp.pipeline.datasets.source_errors import DownloadError, NoNetworkError
from shuffledp.storage import temporary_beside

#: Seconds for a connection, and between two parts of an answer.
TIMEOUT = (4.0, 20.0)
#: Seconds of the longest transfer.
LONGEST = 1800.0
RETRIES = 2
#: Bytes that a packed file, or a zip file, may have beyond the wanted content.
_SLACK, _ZIP_SLACK = 1 << 20, 1 << 28
#: Bytes of the largest member of a zip file from which a content is derived.
_MOST = 1 << 30
_BLOCK = 1 << 16
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "shuffledp (reproducible experiments)"}
_HTML = (b"<!doctype html", b"<html", b"<head", b"<body")
_PASSING = (408, 425, 429)
pooch.get_logger().setLevel("WARNING")  # messages name the source themselves


def is_address(place: str) -> bool:
    """Return True for an http(s) address, False for a path."""
    return place.lower().startswith(("http://", "https://"))


@contextmanager
def answer_of(url: str) -> Iterator[requests.Response]:
    """Yield the answer of a server, whose body is not read yet.

    Raises `DownloadError` for a lasting error, and ``ValueError`` for a passing one, after which pooch tries again.
    """
    try:
        response = requests.get(url, headers=_HEADERS, timeout=TIMEOUT, stream=True)
    except (requests.exceptions.SSLError, requests.exceptions.TooManyRedirects) as error:
        raise DownloadError(f"the request failed ({error}). Check the address.") from error
    except requests.exceptions.RequestException as error:
        if _is_unreachable(error):
            raise NoNetworkError(
                "no connection. Connect to the network, or set SHUFFLEDP_MIRROR to a folder or address with the data."
            ) from error
        raise ValueError(f"no answer ({error})") from error
    with response:
        if response.status_code != 200:
            problem = f"the server answered {response.status_code} {response.reason}"
            if response.status_code in _PASSING or response.status_code >= 500:
                raise ValueError(problem)
            raise DownloadError(
                f"{problem}. Check whether the file has moved, or use a mirror (SHUFFLEDP_MIRROR)."
            )
        yield response


def _is_unreachable(error: requests.exceptions.RequestException) -> bool:
    """Return True if no connection was made, in which case another attempt is useless."""
    if isinstance(error, requests.exceptions.ConnectTimeout | requests.exceptions.ProxyError):
        return True
    cause = error.args[0] if error.args else None
    return isinstance(getattr(cause, "reason", cause), urllib3.exceptions.NewConnectionError)


def _downloaded(url: str) -> Iterator[bytes]:
    """Yield the body of an answer, in parts as they come."""
    with answer_of(url) as response:
        response.raw.decode_content = True  # some servers compress what must not be compressed
        length = response.headers.get("Content-Length", "")
        name = unquote(PurePosixPath(urlsplit(url).path).name)
        size = int(length) if length.isdigit() else None
        with tqdm(total=size, unit="B", unit_scale=True, desc=name, disable=None) as bar:
            try:
                while block := response.raw.read1(_BLOCK):
                    bar.update(len(block))
                    yield block
            except urllib3.exceptions.HTTPError as error:
                raise ValueError(f"the body was cut short ({error})") from error


def _read(path: Path) -> Iterator[bytes]:
    """Yield the content of a file on a mirror."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DownloadError("not a file. Correct SHUFFLEDP_MIRROR.")
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                yield block
    except OSError as error:
        raise DownloadError(f"cannot be read ({error.strerror}). Correct SHUFFLEDP_MIRROR.") from error


def _write(blocks: Iterable[bytes], target: Path, limit: int) -> None:
    """Write the parts of a file. Raise `DownloadError` for a web page, and beyond the limits of bytes and seconds."""
    end, size = time.monotonic() + LONGEST, 0
    with target.open("xb") as stream:
        for block in blocks:
            if not size and block.lstrip()[:32].lower().startswith(_HTML):
                raise DownloadError(
                    "the server sent a web page (HTML) instead of the data. Open the address in a browser: it may ask "
                    "for a login (captive portal), or the file may have moved."
                )
            size += len(block)
            if size > limit:
                raise DownloadError(f"the file has more than {limit} bytes.")
            if time.monotonic() > end:
                raise DownloadError(f"the transfer takes longer than {LONGEST:g} s.")
            stream.write(block)


def _opened(bundle: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    """Open a member of a zip file. Raise ValueError for an encryption or a compression that cannot be read."""
    try:
        return bundle.open(info)
    except (NotImplementedError, RuntimeError) as error:
        raise ValueError(f"not a readable zip file ({error})") from error


def _contents(packed: IO[bytes], item: Location, member: str) -> Iterator[bytes]:
    """Yield the content of a file, or of every member of a zip file that may be the wanted one.

    A member ``a.zip#b`` is the member b of a zip file in the zip file. Paths stored in a zip file are never used as
    paths.
    """
    if not member:
        yield content_of(packed, item.bytes + 1)
        return
    name, _, rest = member.partition("#")
    try:
        with zipfile.ZipFile(packed) as bundle:
            members = {
                PurePosixPath(info.filename).name: info for info in bundle.infolist() if not info.is_dir()
            }
            members_of_name = [
                members[file] for file in (name, f"{name}.gz", f"{name}.gz.old") if file in members
            ]
            for info in members_of_name:
                with _opened(bundle, info) as inside:
                    if rest:
                        yield from _contents(inside, item, rest)
                    elif item.status == "published":
                        yield content_of(inside, item.bytes + 1)
                    elif info.file_size <= _MOST:
                        yield spec(item.name).derive(inside)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ValueError(f"not a readable zip file ({error})") from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a zip file that names a place before its beginning
            raise
        raise ValueError(f"not a readable zip file ({error})") from error


#: Advice for a file on a mirror.
CHECKSUM = "`shuffledp data --checksum FILE` prints checksum and size."


def fetch(item: Location, folder: Path, address: str) -> Path:
    """Get the content of a file from an address or a path into a folder, verified.

    Raises
    ------
    DownloadError
        If there is no such file or it has another content; the folder is then as it was.
    OSError
        If the folder cannot be written.
    """

    def download(address: str, output: str, _: object) -> None:
        url, _, member = address.partition("#") if is_address(address) else (address, "", "")
        limit = item.bytes + (_ZIP_SLACK if member else _SLACK)
        with temporary_beside(Path(output)) as packed:
            _write(_downloaded(url) if is_address(url) else _read(Path(url)), packed, limit)
            problem: str | None = f"the zip file has no {member}"
            with packed.open("rb") as stream:
                for content in _contents(stream, item, member):
                    if (problem := problem_of(content, item)) is None:
                        packed.write_bytes(content)
                        packed.replace(output)
                        return
        raise ValueError(f"wrong content: {problem}")

    store = pooch.create(
        folder,
        base_url="",
        registry={item.file: item.sha256},
        urls={item.file: address},
        retry_if_failed=RETRIES,
    )
    try:
        return Path(store.fetch(item.file, downloader=download))
    except DownloadError as error:
        raise type(error)(f"{address}: {error}") from error
    except ValueError as error:
        advice = "Try again later, or use a mirror." if is_address(address) else CHECKSUM
        raise DownloadError(f"{address}: {str(error).rstrip('.')}. {advice}") from error
