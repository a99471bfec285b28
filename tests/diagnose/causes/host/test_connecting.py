"""Causes of connecting: who waits to be accepted, and whose requests are dropped."""

from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from diagnose.hosts import START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

QUEUE = {("0.0.0.0:5432", "listen.accept_queue"): 129.0, ("0.0.0.0:5432", "listen.backlog"): 128.0}
SOCKET = "127.0.0.1:1521"
LISTENER = {"pid": 5000, "command": "tnslsnr", "usr_pct": 1.0, "sys_pct": 2.0}
NO_DROPS = {"listen_overflows_per_s": 0.0, "listen_drops_per_s": 0.0}


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def waiting(delay_s: float, **more: float) -> dict[tuple[str | None, str], float]:
    told = {"accept_delay": delay_s, "accept_queue": 11.0, "backlog": 128.0, "pid": 5000.0} | more
    return {(SOCKET, f"listen.{name}"): value for name, value in told.items()}


def test_clients_wait_while_the_host_is_idle() -> None:
    dataset = host(kernel=waiting(3.1), tcp=NO_DROPS, other_processes=[LISTENER])
    diagnosis = diagnose(dataset)
    finding = diagnosis.findings[0]
    assert finding.cause == "clients_wait_to_connect"
    assert said(finding.title) == f"Clients wait 3.10 s to be connected at {SOCKET}"
    assert (finding.severity, diagnosis.healthy) == ("critical", False)
    assert "tnslsnr (pid 5000) uses 3 % of a CPU" in figures(finding.for_)
    assert "11.0 connections in its queue" in figures(finding.for_)
    assert "it waits for something in between" in [said(evidence.why) for evidence in finding.for_]
    assert said(finding.remedy[0]).startswith("doctord trace --pid 5000 --for 10s")
    assert not finding.against


@pytest.mark.parametrize(
    ("socket", "servers", "is_told"),
    [
        ("127.0.0.1:5432", 1, True),
        ("/run/postgresql/.s.PGSQL.5432", 1, True),
        ("127.0.0.1:6000", 1, False),
        ("/run/other/.s.PGSQL.6000", 1, False),
        ("127.0.0.1:6000", 0, True),
        ("/run/mysqld/mysqld.sock", 1, True),
    ],
)
def test_of_servers_that_nobody_named_nothing_is_told(socket: str, servers: int, *, is_told: bool) -> None:
    told = {"accept_delay": 3.1, "accept_queue": 11.0, "backlog": 128.0}
    dataset = host(kernel={(socket, f"listen.{name}"): value for name, value in told.items()}, tcp=NO_DROPS)
    causes = [finding.cause for finding in diagnose(dataset, servers=servers).findings]
    assert ("clients_wait_to_connect" in causes) is is_told


def test_how_many_are_accepted_and_how_long_a_pass_takes() -> None:
    finding = found(host(kernel=waiting(3.1), tcp=NO_DROPS, other_processes=[LISTENER]))["clients_wait_to_connect"]
    assert "about 3.5 connections accepted per s" in figures(finding.for_)
    whys = [said(evidence.why) for evidence in finding.for_]
    assert "a process that accepts alone spends 281.8 ms on each, 8.5 ms of it on a CPU" in whys


def test_the_cpu_of_a_pass_is_by_the_children_where_they_are_counted() -> None:
    children = {("tnslsnr (pid 5000)", "process.children_per_s"): 2.0}
    finding = found(host(kernel=waiting(3.1) | children, other_processes=[LISTENER]))["clients_wait_to_connect"]
    assert "15.0 ms of it on a CPU" in " | ".join(said(evidence.why) for evidence in finding.for_)


@pytest.mark.parametrize(
    ("process", "why"),
    [
        ({"usr_pct": 20.0, "sys_pct": 70.0}, "it is busy with each"),
        ({"run_wait_pct": 60.0}, "it waits for a CPU"),
        ({"io_wait_pct": 60.0}, "it waits for a disk"),
    ],
)
def test_what_the_accepting_process_does(process: dict[str, float], why: str) -> None:
    finding = found(host(kernel=waiting(0.4), other_processes=[LISTENER | process]))["clients_wait_to_connect"]
    assert why in [said(evidence.why) for evidence in finding.for_]
    assert finding.severity == "warning"


def test_whose_process_is_not_seen_is_told() -> None:
    kernel = waiting(0.4)
    del kernel[SOCKET, "listen.pid"]
    finding = found(host(kernel=kernel))["clients_wait_to_connect"]
    assert [said(each.what) for each in finding.not_measured] == ["which process accepts there"]
    assert not [step for step in finding.remedy if "doctord trace" in said(step)]


def test_a_full_queue_comes_first() -> None:
    tcp = {"listen_overflows_per_s": 0.5, "listen_drops_per_s": 0.6}
    findings = diagnose(host(tcp=tcp, kernel=waiting(3.1, accept_queue=129.0))).findings
    assert [finding.cause for finding in findings] == ["accept_queue_overflow", "clients_wait_to_connect"]
    assert findings[1].explained_by == "accept_queue_overflow"
    assert "0.50 requests dropped per s" in figures(findings[1].against)


@pytest.mark.parametrize("delay_s", [0.0, 0.09])
def test_a_short_wait_is_no_finding(delay_s: float) -> None:
    assert not found(host(kernel=waiting(delay_s), tcp=NO_DROPS))


def growing(extra: dict[str, list[dict[str, Any]]] | None = None) -> Dataset:
    """Of a server that accepts nobody: each second adds one to the delay."""
    whole = host(kernel=waiting(0.0), other_processes=[LISTENER], extra=extra or {})
    rows = whole.frame("statistic").to_dicts()
    first = min(row["ts"] for row in rows)
    for row in rows:
        if row["name"] == "listen.accept_delay":
            row["value"] = 1.0 + (row["ts"] - first).total_seconds()
    return Dataset({**whole.tables, **Dataset.from_rows(statistic=rows).tables})


def test_a_server_that_accepts_nobody() -> None:
    finding = found(growing())["clients_wait_to_connect"]
    assert said(finding.title) == f"Nobody is accepted at {SOCKET}: clients have waited for 20.00 s"
    assert said(finding.remedy[0]).startswith("ps -o pid,stat,wchan -p 5000")


def test_one_that_does_not_answer_either_is_told_once() -> None:
    silent = {"event": [{"kind": "no answer", "db": "postgresql:5432", "text": "no answer to a login for 3 s"}]}
    assert list(found(growing(silent))) == ["server_does_not_answer"]


def test_a_slow_accept_explains_that_our_own_login_was_given_up() -> None:
    silent = {"event": [{"kind": "no answer", "db": "postgresql:5432", "text": "no answer to a login for 3 s"}]}
    findings = diagnose(host(kernel=waiting(3.4), extra=silent)).findings
    assert [finding.cause for finding in findings] == ["clients_wait_to_connect", "server_does_not_answer"]


def login(way: str = "network", *, count: int = 1, **parts_s: float) -> dict[str, list[dict[str, Any]]]:
    row = {"db": "postgresql:5432", "count": count, "gt_us": 1.0, "le_us": None}
    told = [
        row | {"subject": f"login {way}: {part.replace('_', ' ')}", "waited_us": seconds * 1e6 * count}
        for part, seconds in parts_s.items()
    ]
    return {"latency": told}


def test_a_slow_authentication_is_told_apart() -> None:
    parts = login(TCP_connect=0.0004, first_answer=0.004, authentication=2.1, first_query=0.0003)
    finding = found(host(extra=parts))["logins_slow"]
    assert said(finding.title) == "A network login takes 2.10 s: most of it is authentication"
    assert "LDAP, PAM or RADIUS" in said(finding.for_[0].why)
    assert len(finding.against) == 3
    assert (finding.database, finding.severity) == ("postgresql:5432", "warning")


@pytest.mark.parametrize(
    ("part", "words"), [("TCP_connect", "TCP connect"), ("first_answer", "the server's first answer")]
)
def test_the_part_that_takes_long_is_named(part: str, words: str) -> None:
    finding = found(host(extra=login(**{part: 1.2})))["logins_slow"]
    assert said(finding.title).endswith(f"most of it is {words}")


def test_logins_are_slow_because_nobody_is_accepted_soon() -> None:
    findings = diagnose(host(kernel=waiting(3.4), extra=login("local", first_answer=3.4))).findings
    assert [(finding.cause, finding.explained_by) for finding in findings] == [
        ("clients_wait_to_connect", None),
        ("logins_slow", "clients_wait_to_connect"),
    ]


@pytest.mark.parametrize("dataset", [host(extra=login(first_answer=0.1)), host(seconds=1, extra=login(first_answer=2))])
def test_a_quick_login_and_a_single_one_are_no_finding(dataset: Dataset) -> None:
    assert "logins_slow" not in found(dataset)


@pytest.mark.parametrize(("slow", "is_found"), [(2, False), (3, True)])
def test_one_bad_moment_is_no_finding(slow: int, *, is_found: bool) -> None:
    rows = host(kernel=waiting(0.05)).frame("statistic").to_dicts()
    late = sorted({row["ts"] for row in rows})[:slow]
    for row in rows:
        if row["name"] == "listen.accept_delay" and row["ts"] in late:
            row["value"] = 2.0
    whole = host()
    dataset = Dataset({**whole.tables, **Dataset.from_rows(statistic=rows).tables})
    assert ("clients_wait_to_connect" in found(dataset)) is is_found


@pytest.mark.parametrize(("slow", "is_found"), [(29, False), (30, True)])
def test_slow_logins_of_a_long_recording_are_not_averaged_away(slow: int, *, is_found: bool) -> None:
    dataset = host(seconds=400, extra=login("local", first_answer=0.004, authentication=0.002))
    latency = dataset.frame("latency")
    late = (pl.col("ts") < START + timedelta(seconds=slow + 1)) & pl.col("subject").str.ends_with("authentication")
    rows = latency.with_columns(waited_us=pl.when(late).then(3e6).otherwise("waited_us")).to_dicts()
    findings = found(Dataset({**dataset.tables, **Dataset.from_rows(latency=rows).tables}))
    assert ("logins_slow" in findings) is is_found
    if is_found:
        assert said(findings["logins_slow"].title) == "A local login takes 3.00 s: most of it is authentication"
        assert said(findings["logins_slow"].for_[0].why).endswith("in 30 of 400 logins")


def test_a_queue_that_is_full_says_so() -> None:
    finding = found(host(kernel=waiting(3.1, accept_queue=129.0), tcp=NO_DROPS))["clients_wait_to_connect"]
    assert "it is full: who comes now waits outside, uncounted" in [said(evidence.why) for evidence in finding.for_]


def test_accept_queue_overflow_names_the_socket() -> None:
    tcp = {"listen_overflows_per_s": 0.5, "listen_drops_per_s": 0.6}
    finding = found(host(tcp=tcp, kernel=QUEUE))["accept_queue_overflow"]
    assert said(finding.title) == "10 connection requests dropped: an accept queue is full"
    assert "up to 129 connections waiting on 0.0.0.0:5432" in figures(finding.for_)
    assert finding.impact.share is None
    assert finding.confidence == 0.95


def test_the_socket_that_drops_is_named_by_its_own_count() -> None:
    tcp = {"listen_overflows_per_s": 0.5, "listen_drops_per_s": 0.5}
    drops = {("127.0.0.1:1521", "listen.drops_per_s"): 0.5}
    finding = found(host(tcp=tcp, kernel=drops))["accept_queue_overflow"]
    assert "10 dropped at 127.0.0.1:1521" in figures(finding.for_)
    assert finding.confidence == 0.95


def test_overflow_with_no_full_queue_seen_is_less_sure() -> None:
    finding = found(host(tcp={"listen_overflows_per_s": 0.5, "listen_drops_per_s": None}))["accept_queue_overflow"]
    assert finding.confidence == 0.85


@pytest.mark.parametrize(
    "tcp",
    [{"listen_drops_per_s": 2.0}, {"listen_overflows_per_s": None, "listen_drops_per_s": None}],
    ids=["dropped for other reasons", "not measured"],
)
def test_accept_queues_that_are_well(tcp: dict[str, Any]) -> None:
    assert not found(host(tcp=tcp))


def test_a_full_queue_that_dropped_nobody_is_no_finding() -> None:
    assert not found(host(kernel=QUEUE))


@pytest.mark.parametrize("part", ["first_answer", "authentication"])
def test_a_setting_that_has_each_login_sleep_is_named(part: str) -> None:
    settings = {"post_auth_delay": "1", "pre_auth_delay": "0"}
    finding = found(host(extra=login("local", **{part: 1.01}), settings=settings))["logins_slow"]
    assert said(finding.title) == "A local login takes 1.01 s: post_auth_delay = 1 s has each of them sleep"
    assert "post_auth_delay = 1" in [said(item.figure) for item in finding.for_]
    assert said(finding.remedy[0]).startswith("ALTER SYSTEM RESET post_auth_delay")


def test_it_does_not_explain_a_slow_network() -> None:
    finding = found(host(extra=login(TCP_connect=1.01), settings={"post_auth_delay": "1"}))["logins_slow"]
    assert said(finding.title).endswith("most of it is TCP connect")


def test_a_short_sleep_is_not_why_an_authentication_takes_long() -> None:
    finding = found(host(extra=login(authentication=6.0), settings={"post_auth_delay": "1"}))["logins_slow"]
    assert said(finding.title).endswith("most of it is authentication")
    assert "post_auth_delay = 1" in [said(item.figure) for item in finding.for_]
