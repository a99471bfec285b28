"""Unlogged tables that a crash has emptied."""

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import psycopg
import pytest

from checkups import checkup
from diagnose.hosts import host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.causes.databases.unlogged import PAGES, PROCESSES, SCANS, SIZE, STATISTICS
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from servers import PostgresServer

CAUSE = "unlogged_tables_emptied"
PRICES = "shop.public.prices"
EMPTY = {(PRICES, SIZE): 0.0, (PRICES, PAGES): 400.0}
READ = {(PRICES, SCANS[1]): 20.0}
CRASHED = {("shop", STATISTICS): 95.0, (None, PROCESSES): 90.0}


def seen(*figures: Mapping[tuple[str | None, str], float]) -> Dataset:
    return host(postgres={key: value for each in figures for key, value in each.items()})


def found(dataset: Dataset) -> Finding | None:
    return next((one for one in diagnose(dataset).findings if one.cause == CAUSE), None)


def test_a_table_that_is_read_and_has_nothing_left_is_critical() -> None:
    finding = found(seen(EMPTY, READ, CRASHED))
    assert finding
    assert (finding.severity, finding.against) == ("critical", ())
    assert said(finding.title).startswith(f"Unlogged {PRICES} of")
    told = [said(one.figure) for one in finding.for_]
    assert told[0] == f"{PRICES}: 400 pages at its last VACUUM or ANALYZE"
    assert any("its processes and its statistics begin" in one for one in told)
    assert "Fill again: public.prices." in said(finding.remedy[0])


def test_it_is_told_long_after_the_crash_too() -> None:
    finding = found(seen(EMPTY, {("shop", STATISTICS): 900_000.0, (None, PROCESSES): 4000.0}))
    assert finding
    assert (finding.severity, len(finding.against)) == ("warning", 1)


@pytest.mark.parametrize(
    ("figures", "severity"),
    [
        ({(PRICES, SIZE): 0.0, (PRICES, PAGES): 0.0}, None),
        ({(PRICES, SIZE): 0.0}, None),
        ({(PRICES, SIZE): 8192.0 * 40, (PRICES, PAGES): 400.0}, "note"),
        ({(PRICES, SIZE): 8192.0 * 300, (PRICES, PAGES): 400.0}, None),
    ],
    ids=["truncated", "pages are not known", "filled again", "filled"],
)
def test_after_a_crash_what_is_left_decides(figures: dict[tuple[str | None, str], float], severity: str | None) -> None:
    finding = found(seen(figures, READ, CRASHED))
    assert (finding and finding.severity) == severity


def test_few_pages_without_a_crash_are_nothing() -> None:
    assert found(seen({(PRICES, SIZE): 8192.0 * 40, (PRICES, PAGES): 400.0}, READ)) is None


@pytest.mark.server
@pytest.mark.slow
def test_live_a_crash_empties_it(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    server.execute(
        "CREATE UNLOGGED TABLE prices AS SELECT n FROM generate_series(1, 9000) AS n", "VACUUM ANALYZE prices"
    )
    assert CAUSE not in [one["cause"] for one in checkup(server.dsn())[1]["findings"]]
    with suppress(psycopg.OperationalError), psycopg.connect(server.dsn()) as session:
        os.kill(session.info.backend_pid, signal.SIGKILL)
        session.execute("SELECT 1")
    while True:
        with suppress(psycopg.OperationalError):
            server.execute("SELECT 1")
            break
        time.sleep(0.1)
    [finding] = [one for one in checkup(server.dsn())[1]["findings"] if one["cause"] == CAUSE]
    assert "public.prices" in finding["title"]
    server.execute("TRUNCATE prices")
    assert CAUSE not in [one["cause"] for one in checkup(server.dsn())[1]["findings"]]
