"""The server's clock beside ours: that of a real server, and of one that libfaketime puts an hour ahead."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from doctord.collect.postgres.statistics.clock import Clock
from postgres_samples import link_to, rows_of
from servers import PostgresServer, running_postgres

LIBRARIES = ("/usr/lib", "/usr/local/lib")
pytestmark = pytest.mark.server


def told(dsn: str, clock: Clock) -> dict[str, float]:
    with closing(link_to(dsn)) as link:
        link.open()
        return {row["name"]: row["value"] for row in rows_of("statistic", clock.read(link))}


def test_a_server_here_has_our_clock_whatever_its_zone(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    found = told(f"{server.dsn()} options='-c TimeZone=Asia/Tokyo'", Clock())
    assert abs(found["clock.offset_s"]) <= found["clock.round_trip_s"] + 0.01
    assert found["clock.is_of_this_host"] == 1


def test_the_quickest_answer_counts(postgres_server: Callable[..., PostgresServer]) -> None:
    found = told(postgres_server().dsn(host="127.0.0.1"), Clock(now=lambda: time.time() + 5))
    assert found["clock.offset_s"] == pytest.approx(-5, abs=found["clock.round_trip_s"] + 0.05)
    assert found["clock.is_of_this_host"] == 0


@pytest.fixture
def an_hour_ahead(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresServer]:
    library = next((one for root in LIBRARIES for one in Path(root).rglob("libfaketimeMT.so.1")), None)
    if library is None:
        pytest.skip("libfaketime is not installed: apt-get install faketime")
    ahead_s = int(os.environ.get("FAKETIME", "+0s").strip("+s")) + 3600  # of the kernel's clock, if we have another one
    with ExitStack() as servers:
        with monkeypatch.context() as environment:
            for name, value in {
                "LD_PRELOAD": str(library),
                "FAKETIME": f"+{ahead_s}s",
                "DONT_FAKE_MONOTONIC": "1",
            }.items():
                environment.setenv(name, value)
            started = servers.enter_context(running_postgres(15))
        yield started


def test_a_clock_an_hour_ahead(an_hour_ahead: PostgresServer) -> None:
    found = told(an_hour_ahead.dsn(), Clock())
    assert found["clock.offset_s"] == pytest.approx(3600, abs=1)
