import urllib.request

import pytest

from shuffledp.pipeline.datasets.source_errors import DownloadError
from shuffledp.pipeline.datasets.transfer_limits import Pace, blocks_of_file, bounded_urlopen


def slow_after(*times: float, least: tuple[float, float] = (10.0, 2.0)) -> list[bool]:
    """Return whether a transfer is too slow if 10 bytes arrive at each of these times."""
    clock = iter((0.0, *times))
    pace = Pace(least, lambda: next(clock))
    return [pace.too_slow(10 * (i + 1)) for i in range(len(times))]


def test_every_span_must_have_the_minimum_speed_whatever_came_before():
    assert not any(slow_after(1.0, 2.0, 3.0, 4.0, 5.0))
    assert slow_after(0.1, 0.2, 0.3, 0.4, 0.5, 2.0, 4.5) == [False] * 6 + [True]
    assert slow_after(1.9, 3.9) == [False, True]


def test_a_file_that_is_read_too_slowly_is_given_up(tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    clock = iter((0.0, 9.0))
    with pytest.raises(DownloadError, match="less than 1024 bytes per second came for 5 s"):
        list(blocks_of_file(tmp_path / "a", 10, Pace((1024.0, 5.0), lambda: next(clock))))


@pytest.mark.parametrize(
    ("behaviour", "says"), [("endless", "sends more than 400000 bytes"), ("drip", "less than 10000 bytes")]
)
def test_what_other_packages_download_is_bounded_too(server, behaviour, says):
    server.behaviours = [behaviour]
    with bounded_urlopen(400_000, (1e4, 0.1)), pytest.raises(DownloadError, match=says):
        urllib.request.urlopen(server.url).read()


def test_what_other_packages_download_is_whole(server):
    with bounded_urlopen(len(server.body)):
        response = urllib.request.urlopen(server.url)
        assert response.read(7) + response.read() == server.body
    assert "opened" not in urllib.request.urlopen.__name__
