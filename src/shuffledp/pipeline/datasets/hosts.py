"""Reachability of hosts; unreachable hosts are remembered, so that the next URL on such a host fails at once."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

import requests
import urllib3

from shuffledp.pipeline.datasets.source_errors import NoNetworkError

_DOWN: dict[tuple[str, int], str] = {}  # hosts found unreachable by this process, with the reason


def endpoint_of(url: str) -> tuple[str, int]:
    """Return host and port of the connection for `url`, its own or the proxy's."""
    proxy = requests.utils.select_proxy(url, requests.utils.get_environ_proxies(url))
    parts = urlsplit(proxy or url)
    try:
        port = parts.port
    except ValueError as error:
        raise NoNetworkError(f"{proxy or url}: {error}.") from None
    return parts.hostname or "", port or (443 if parts.scheme == "https" else 80)


def forget_hosts() -> None:
    """Delete the list of unreachable hosts."""
    _DOWN.clear()


def probe(urls: Sequence[str], limit: float = 3.0) -> dict[str, str | None]:
    """Return per URL None if its host accepts connections within a time limit, otherwise the reason; in parallel."""
    answers: dict[tuple[str, int], str | None] = {}

    def connect(endpoint: tuple[str, int]) -> None:
        try:
            socket.create_connection(endpoint, timeout=limit).close()
            answers[endpoint] = None
        except (OSError, UnicodeError) as error:
            answers[endpoint] = str(error)

    endpoints = {url: endpoint_of(url) for url in urls}
    new = {endpoint for endpoint in endpoints.values() if endpoint not in _DOWN}
    threads = [threading.Thread(target=connect, args=(endpoint,), daemon=True) for endpoint in sorted(new)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + limit
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    for endpoint in new:
        reason = answers.get(endpoint, f"no answer within {limit:g} s")
        if reason is not None:
            _DOWN[endpoint] = reason
    return {url: _DOWN.get(endpoint) for url, endpoint in endpoints.items()}


def down(url: str) -> str | None:
    """Return the remembered reason why the host of a URL is unreachable; None without one."""
    return _DOWN.get(endpoint_of(url))


def remember(url: str, reason: str) -> None:
    """Remember the host of a URL as unreachable."""
    _DOWN[endpoint_of(url)] = reason


def no_network(url: str, reason: str) -> NoNetworkError:
    """Return the error for a URL on an unreachable host."""
    host, port = endpoint_of(url)
    return NoNetworkError(
        f"{url}: cannot reach {host}:{port} ({reason}). Connect to the network, or set SHUFFLEDP_MIRROR to a "
        "folder or URL which holds the data."
    )


def is_unreachable(error: requests.exceptions.ConnectionError) -> bool:
    """Return whether no connection was made, in which case another attempt is useless."""
    if isinstance(error, requests.exceptions.ConnectTimeout | requests.exceptions.ProxyError):
        return True
    cause = error.args[0] if error.args else None
    reason = getattr(cause, "reason", cause)
    return isinstance(reason, urllib3.exceptions.NewConnectionError | urllib3.exceptions.ConnectTimeoutError)
