"""Causes of the network: each fires on its own host, and on no healthy one."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import DB, START, UNEXPLAINED, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

SENDING = {("Network", "ClientWrite"): 1.5, ("CPU", "CPU"): 0.5}
LOSSY = {"segments_out_per_s": 2000.0, "retransmits_per_s": 60.0}


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


@pytest.mark.parametrize(
    "time", [SENDING, {("Commit", "SyncRep"): 1.5, ("CPU", "CPU"): 0.5}], ids=["client", "replica"]
)
def test_retransmits(time: dict[tuple[str, str], float]) -> None:
    finding = found(host(tcp=LOSSY, time=time))["network_retransmits"]
    assert finding.impact.share == pytest.approx(0.75)
    assert "3.0 % of segments again" in figures(finding.for_)


def test_interfaces_without_errors_speak_against_this_host() -> None:
    eth0 = [{"interface": "eth0", "errors_per_s": 0.0}]
    finding = found(host(tcp=LOSSY, time=SENDING, extra={"network": eth0}))["network_retransmits"]
    assert "0.0 errors and drops per s" in figures(finding.against)
    assert finding.confidence == 0.6


def test_a_host_alone_gets_no_impact() -> None:
    finding = found(host(tcp=LOSSY, without=("session",)))["network_retransmits"]
    assert finding.impact.share is None


@pytest.mark.parametrize(
    "changes",
    [
        {"tcp": LOSSY},
        {"tcp": {"segments_out_per_s": 2000.0, "retransmits_per_s": 3.0}, "time": SENDING},
        {"tcp": {"segments_out_per_s": 10.0, "retransmits_per_s": 1.0}, "time": SENDING},
        {"tcp": {"segments_out_per_s": None, "retransmits_per_s": 60.0}, "time": SENDING},
        {"tcp": {"segments_out_per_s": 2000.0, "retransmits_per_s": None}, "time": SENDING},
    ],
    ids=["nobody waits", "few lost", "few sent", "sent unknown", "lost unknown"],
)
def test_networks_that_are_no_cause(changes: dict[str, Any]) -> None:
    assert found(host(**changes)).keys() <= {*UNEXPLAINED, "clients_do_not_take_results"}


def test_segments_that_are_lost_late_in_a_file() -> None:
    quiet = {"segments_out_per_s": 2000.0, "retransmits_per_s": 0.1}
    early = host(tcp=quiet, without=("session",), seconds=35)
    late = host(tcp=LOSSY | {"retransmits_per_s": 25.0}, without=("session",), seconds=15, start=early.until)
    finding = found(Dataset.joined([early, late]))["network_retransmits"]
    assert "1.2 % of segments again" in figures(finding.for_)
    burst = host(tcp=LOSSY | {"retransmits_per_s": 25.0}, without=("session",), seconds=3, start=early.until)
    assert not found(Dataset.joined([early, burst]))


def stuck(*looks: tuple[float, float], client: str = "10.77.0.2") -> Dataset:
    """How many connections of a client are not acknowledged, and how many others there are, each five seconds."""
    rows = [
        {"ts": START + timedelta(seconds=5 * number), "component": "postgresql", "db": DB, "name": name,
         "entity": client, "value": value, "kind": "gauge"}
        for number, (lost, well) in enumerate(looks, 1)
        for name, value in (
            ("tcp.unacknowledged", lost), ("tcp.unacknowledged_bytes", lost * 5120), ("tcp.acknowledged", well)
        )
    ]  # fmt: skip
    return Dataset.joined([host(), Dataset.from_rows(statistic=rows)])


def test_answers_that_nobody_acknowledges() -> None:
    finding = found(stuck((4, 2), (6, 2)))["answers_not_delivered"]
    assert said(finding.title) == f"6 client connections acknowledge nothing of what {DB} sends: 10.77.0.2"
    assert (finding.severity, finding.confidence, finding.database) == ("critical", 0.9, DB)
    assert "6 connections from 10.77.0.2, 30.0 KiB in their queues" in figures(finding.for_)
    assert "2 other connections from there" in figures(finding.for_)
    assert "MTU" in said(finding.remedy[0])


def test_a_single_client_may_be_gone() -> None:
    finding = found(stuck((1, 0), (1, 0)))["answers_not_delivered"]
    assert (finding.severity, finding.confidence) == ("note", 0.6)
    assert figures(finding.against) == "one connection"


def test_what_was_so_at_one_look_or_is_over_soon_is_no_finding() -> None:
    assert "answers_not_delivered" not in found(stuck((0, 8), (6, 2)))
    assert "answers_not_delivered" not in found(stuck((6, 2), (6, 2), (0, 8)))


def test_what_is_over_is_less_urgent() -> None:
    assert found(stuck(*[(6, 2)] * 6, (0, 8)))["answers_not_delivered"].severity == "warning"
