"""Sockets whose files are gone, and addresses that are not the host's."""

from collections.abc import Callable, Mapping

import pytest

from checkups import checkup
from diagnose.hosts import host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.causes.access.listening import FILE, LISTENED, LOCK, OF_HOST
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from servers import PostgresServer

SOCKET, OTHER = "/tmp/.s.PGSQL.5432", "/run/postgresql/.s.PGSQL.5432"  # noqa: S108 - nothing is made there
ADDRESS = "10.0.0.9"


def found(figures: Mapping[tuple[str | None, str], float]) -> dict[str, Finding]:
    dataset: Dataset = host(postgres=figures)
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_a_socket_without_its_file_is_critical() -> None:
    finding = found({(SOCKET, FILE): 0.0, (SOCKET, LOCK): 0.0})["socket_file_missing"]
    assert (finding.severity, finding.against) == ("critical", ())
    assert said(finding.title) == f"The file of postgresql:5432's Unix socket is gone: nobody comes in by {SOCKET}"
    assert [said(one.figure) for one in finding.for_][1] == f"{SOCKET}.lock is gone too"


def test_another_socket_speaks_against_it() -> None:
    finding = found({(SOCKET, FILE): 0.0, (OTHER, FILE): 1.0, (OTHER, LOCK): 1.0})["socket_file_missing"]
    assert (finding.severity, len(finding.for_), len(finding.against)) == ("warning", 1, 1)


@pytest.mark.parametrize(
    "figures",
    [{}, {(SOCKET, FILE): 1.0}, {(SOCKET, LOCK): 0.0, (SOCKET, FILE): 1.0}],
    ids=["not looked at", "it is there", "the lock file alone is gone"],
)
def test_a_socket_with_its_file_is_healthy(figures: dict[tuple[str | None, str], float]) -> None:
    assert found(figures) == {}


@pytest.mark.parametrize(
    ("listened", "of_host", "why"),
    [(1.0, 0.0, "it is no address of this host"), (0.0, 1.0, "nobody listens there"),
     (0.0, 0.0, "it is no address of this host")],
)  # fmt: skip
def test_an_address_that_leads_nobody_to_the_server(listened: float, of_host: float, why: str) -> None:
    finding = found({(ADDRESS, LISTENED): listened, (ADDRESS, OF_HOST): of_host})["listen_address_missing"]
    assert finding.severity == "warning"
    assert ADDRESS in said(finding.title)
    assert said(finding.for_[0].why) == why


def test_an_address_of_the_host_at_which_it_listens_is_healthy() -> None:
    assert found({(ADDRESS, LISTENED): 1.0, (ADDRESS, OF_HOST): 1.0}) == {}


@pytest.mark.server
@pytest.mark.slow
def test_live_a_socket_that_was_removed_is_seen_over_tcp(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    assert "socket_file_missing" not in [one["cause"] for one in checkup(server.dsn())[1]["findings"]]
    (server.socket_dir / f".s.PGSQL.{server.port}").unlink()
    status, verdict = checkup(f"host=127.0.0.1 port={server.port} user=postgres dbname=postgres")
    [finding] = [one for one in verdict["findings"] if one["cause"] == "socket_file_missing"]
    assert (status, finding["severity"]) == (1, "critical")
