"""What the server writes into its log and no cause explains."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from checkups import checkup_while
from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.case import Case
from doctord.diagnose.causes.service.other_messages import other_messages
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, Finding
from doctord.report.phrases import said
from servers import PostgresServer

CAUSE = "other_messages"
NEW = "LOG could not do what nobody has heard of"


def seen(*messages: str, per_s: float = 1.0, who: str = "", **changes: Any) -> Dataset:
    """A healthy host with such messages in its log, each second."""
    common = {"component": "postgresql", "db": DB, "interval_s": 1.0, "kind": "rate", "unit": "per_s"}
    rows = [{**common, "name": "log.errors", "entity": message, "value": per_s} for message in messages]
    by = [{**common, "name": "log.errors_from", "entity": f"{message} | {who}", "value": per_s} for message in messages]
    return host(extra={"statistic": [*rows, *(by if who else [])]}, **changes)


def found(dataset: Dataset) -> list[Finding]:
    return [finding for finding in diagnose(dataset).findings if finding.cause == CAUSE]


def test_what_nobody_knows_is_told_in_the_servers_words_with_who_met_it() -> None:
    [finding] = found(seen(NEW, who="user ann, database shop, application psql"))
    assert finding.severity == "note"
    assert said(finding.title) == f"The log of {DB} says 20 times: could not do what nobody has heard of"
    assert said(finding.for_[0].why).endswith("by user ann, database shop, application psql (20)")
    assert "log_line_prefix" in said(finding.remedy[1])


def test_by_its_sqlstate_it_is_the_servers_own() -> None:
    [finding] = found(seen("WARNING 58030 could not do what nobody has heard of"))
    assert finding.severity == "warning"


def test_what_a_cause_told_of_one_server_is_not_told_of_another() -> None:
    case = Case(seen(NEW))
    item = Evidence("statistic", f"entity = '{NEW}'", "", "", "")
    case.claims = [("a_cause", Claim("", impact=NOT_MEASURED, confidence=0.9, for_=[item], database="postgresql:1"))]
    assert len(list(other_messages(case))) == 1
    case.claims = [("a_cause", Claim("", impact=NOT_MEASURED, confidence=0.9, for_=[item], database=DB))]
    assert list(other_messages(case)) == []


@pytest.mark.parametrize("per_s", [0.05, 0.4])
def test_what_comes_now_and_then_is_silent(per_s: float) -> None:
    assert found(seen(NEW, per_s=per_s)) == []


@pytest.mark.parametrize(
    ("message", "per_s", "severity"),
    [
        ("LOG could not fork new process for connection: Resource temporarily unavailable", 1.0, "critical"),
        ("LOG could not fork new process for connection: Resource temporarily unavailable", 0.05, "warning"),
        ('LOG F0000 configuration file "?" contains errors; no changes were applied', 0.05, "warning"),
        ("LOG SSL configuration was not reloaded", 0.05, "warning"),
        ("WARNING out of background worker slots", 0.05, "warning"),
        ("LOG could not bind IPv4 address", 0.05, "note"),
    ],
)
def test_what_is_known_says_what_it_means(message: str, per_s: float, severity: str) -> None:
    [finding] = found(seen(message, per_s=per_s))
    assert finding.severity == severity
    assert said(finding.remedy[0]).startswith("To tell more, and to mend it: ")


@pytest.mark.parametrize(
    "message",
    [
        "WARNING 25001 there is already a transaction in progress",
        "WARNING 01000 (raised by a function)",
        'WARNING 01000 skipping "pg_authid" --- only superuser can vacuum it',
        "LOG 08006 could not receive data from client: Connection reset by peer",
        "LOG 08P01 could not accept SSL connection: EOF detected",
        "LOG invalid record length at ?: wanted ?, got ?",
        "LOG 08P01 invalid length of startup packet",
        'ERROR 23505 duplicate key value violates unique constraint "t_pkey"',
    ],
)
def test_what_healthy_servers_say_too_is_silent(message: str) -> None:
    assert found(seen(message)) == []


def test_what_another_finding_speaks_of_is_not_told_twice() -> None:
    warned = 'WARNING database "shop" must be vacuumed within ? transactions'
    assert len(found(seen(warned))) == 1
    aged = seen(warned, postgres={("shop", "pg_database.datfrozenxid_age"): 2.1e9})
    told = [finding.cause for finding in diagnose(aged).findings]
    assert "transaction_id_age" in told
    assert CAUSE not in told


def test_what_is_over_is_a_note() -> None:
    early = seen("LOG SSL configuration was not reloaded")
    late = early.until + timedelta(hours=3) if early.until else None
    rows = [*early.frame("cpu").to_dicts(), {"ts": late, "host": "host", "cpu": None, "idle_pct": 90.0}]
    [finding] = found(early.replaced({"cpu": Dataset.from_rows(cpu=rows).frame("cpu").to_arrow()}))
    assert (finding.severity, len(finding.against)) == ("note", 1)


@pytest.mark.server
@pytest.mark.slow
def test_live_a_reload_that_was_refused(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()

    def spoil() -> None:
        hba = server.datadir / "pg_hba.conf"
        hba.write_text(hba.read_text() + "nothing all all trust\n")
        server.execute("SELECT pg_reload_conf()")

    status, verdict = checkup_while(server, spoil, seconds=14)
    [finding] = [finding for finding in verdict["findings"] if finding["cause"] == CAUSE]
    assert (status, finding["severity"]) == (1, "warning")
    assert "pg_hba.conf" in finding["title"]
