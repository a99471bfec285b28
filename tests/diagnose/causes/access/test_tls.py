"""Certificates that end, and TLS handshakes that fail."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from certificates import make_certificate
from checkups import causes, checkup, checkup_while
from diagnose.hosts import DB, START, host
from doctord.analyse.certificates import certificates
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from servers import PostgresServer

DAY = 86400.0
FILE = "ssl_cert_file server.crt"
HANDSHAKE = "LOG 08P01 could not accept SSL connection: "
ALERT = f"{HANDSHAKE}sslv3 alert certificate expired"


def certificate(left_s: float, life_s: float = 365 * DAY, entity: str = FILE) -> dict[tuple[str | None, str], float]:
    return {(entity, "certificate.left_s"): left_s, (entity, "certificate.held_s"): life_s - left_s}


def logged(*messages: str, per_s: float = 1.0) -> list[dict[str, Any]]:
    """Rows of a log that was read, each second."""
    common = {"component": "postgresql", "db": DB, "interval_s": 1.0, "kind": "rate", "unit": "per_s"}
    counts = [{**common, "name": "log.errors", "entity": message, "value": per_s} for message in messages]
    return [*counts, {**common, "name": "log.messages", "entity": "ERROR", "value": 0.0}]


def seen(figures: dict[tuple[str | None, str], float], *messages: str, per_s: float = 1.0) -> Dataset:
    return host(postgres=figures, extra={"statistic": logged(*messages, per_s=per_s)})


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_an_expired_certificate_is_critical_and_behind_the_refused_handshakes() -> None:
    told = found(seen(certificate(-2 * DAY), ALERT))
    assert told["certificate_expires"].severity == "critical"
    assert said(told["certificate_expires"].title).endswith("expired 2 d ago")
    assert told["tls_handshakes_refused"].explained_by == "certificate_expires"


def test_one_that_no_client_verifies_is_a_warning() -> None:
    sessions = {(None, "pg_stat_ssl.sessions"): 5.0, (None, "pg_stat_ssl.newest_s"): 3600.0}
    [finding] = found(seen(certificate(-2 * DAY) | sessions)).values()
    assert (finding.severity, len(finding.against)) == ("warning", 1)
    before = sessions | {(None, "pg_stat_ssl.newest_s"): 3 * DAY}
    [finding] = found(seen(certificate(-2 * DAY) | before)).values()
    assert finding.severity == "critical"


def test_an_authority_of_clients_that_is_over_is_a_warning_until_clients_are_refused() -> None:
    over = certificate(-2 * DAY, entity="ssl_ca_file root.crt") | certificate(300 * DAY)
    told = found(seen(over))["certificate_expires"]
    assert (told.severity, told.against[0].threshold != "") == ("warning", True)
    refused = found(seen(over, f"{HANDSHAKE}certificate verify failed"))
    assert refused["certificate_expires"].severity == "critical"
    assert refused["tls_handshakes_refused"].explained_by == "certificate_expires"


def test_handshakes_that_fail_for_another_reason_are_not_of_the_certificate() -> None:
    told = found(seen(certificate(-2 * DAY), f"{HANDSHAKE}unsupported protocol"))
    assert told["tls_handshakes_refused"].explained_by is None
    java = found(seen(certificate(-2 * DAY), f"{HANDSHAKE}sslv3 alert certificate unknown"))
    assert java["tls_handshakes_refused"].explained_by == "certificate_expires"


def test_a_file_that_is_named_no_more_is_none() -> None:
    old = certificate(2 * DAY, entity="ssl_cert_file old.crt")
    common = {"component": "postgresql", "db": DB, "kind": "gauge", "unit": "s", "host": "host"}
    at = START + timedelta(days=1)
    rows = [
        {**common, "ts": ts, "entity": entity, "name": name, "value": value}
        for ts, figures in ((START, old), (at, certificate(300 * DAY)))
        for (entity, name), value in figures.items()
    ]
    assert [one.entity for one in certificates(Dataset.from_rows(statistic=rows))] == [FILE]


@pytest.mark.parametrize(
    ("left_days", "life_days", "is_told"),
    [(200, 365, False), (31, 365, False), (20, 365, True), (20, 90, False), (10, 90, True), (0.5, 1, False),
     (0.1, 1, True), (3000, 3650, False)],
)  # fmt: skip
def test_little_time_is_a_month_or_a_fifth_of_its_life(left_days: float, life_days: float, *, is_told: bool) -> None:
    told = found(seen(certificate(left_days * DAY, life_days * DAY)))
    assert [finding.severity for finding in told.values()] == (["warning"] if is_told else [])


def test_one_that_does_not_hold_yet() -> None:
    [finding] = found(seen(certificate(400 * DAY, 365 * DAY))).values()
    assert (finding.cause, finding.severity) == ("certificate_expires", "critical")
    assert "does not hold yet" in said(finding.title)


def test_the_one_in_use_is_told_though_the_file_is_new() -> None:
    [finding] = found(seen(certificate(-DAY, entity="in use at 127.0.0.1:5432") | certificate(300 * DAY))).values()
    assert "in use at" in said(finding.title)
    assert FILE in said(finding.against[0].figure)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("tlsv1 alert unknown ca", "do not trust"),
        ("certificate verify failed", "refuses the clients' certificates"),
        ("peer did not return a certificate", "show no certificate"),
        ("unsupported protocol", "no version of TLS"),
        ("no shared cipher", "no cipher"),
        ("something new", "do not agree"),
    ],
)
def test_refused_handshakes_by_their_reason(words: str, expected: str) -> None:
    [finding] = found(seen(certificate(300 * DAY), HANDSHAKE + words)).values()
    assert (finding.cause, finding.severity) == ("tls_handshakes_refused", "warning")
    assert expected in said(finding.title)


@pytest.mark.parametrize(("words", "per_s"), [("EOF detected", 0.05), ("no shared cipher", 0.05)])
def test_few_of_them_are_no_finding_above_a_note(words: str, per_s: float) -> None:
    assert all(finding.severity == "note" for finding in found(seen({}, HANDSHAKE + words, per_s=per_s)).values())


def test_health_checks_are_a_note() -> None:
    [finding] = found(seen({}, f"{HANDSHAKE}EOF detected")).values()
    assert finding.severity == "note"


def test_a_certificate_near_its_end_is_not_behind_clients_that_do_not_know_it() -> None:
    told = found(seen(certificate(5 * DAY), f"{HANDSHAKE}tlsv1 alert unknown ca"))
    assert {finding.explained_by for finding in told.values()} == {None}


def use(server: PostgresServer, folder: Path, left: timedelta, held: timedelta = timedelta(days=365)) -> Path:
    """Have a server show a certificate of such a life."""
    made = make_certificate(folder, left, held)
    owner = server.datadir.stat()
    for file in (made, made.with_suffix(".key")):
        copy = server.datadir / f"server{file.suffix}"
        shutil.copy(file, copy)
        shutil.chown(copy, owner.st_uid, owner.st_gid)
        copy.chmod(0o600)
    server.execute("ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()")
    return made


def refused(server: PostgresServer, authority: Path) -> None:
    """Ask for a verified session ten times."""
    for _ in range(10):
        with pytest.raises(psycopg.OperationalError, match="certificate"):
            server.connect(host="127.0.0.1", sslmode="verify-ca", sslrootcert=str(authority))


@pytest.mark.server
@pytest.mark.slow
def test_live_an_expired_certificate(postgres_server: Callable[..., PostgresServer], tmp_path: Path) -> None:
    server = postgres_server(settings={"logging_collector": "on", "log_directory": "log"})
    made = use(server, tmp_path, timedelta(days=-3), timedelta(days=300))
    status, verdict = checkup_while(server, lambda: refused(server, made), seconds=12)
    [first] = [finding for finding in verdict["findings"] if finding["cause"] == "certificate_expires"]
    assert (status, first["severity"]) == (1, "critical")
    assert {"ssl_cert_file", "in use at"} <= {
        word for word in ("ssl_cert_file", "in use at") if word in str(first["for"])
    }
    assert "certificate expired" in str(first["for"])


@pytest.mark.server
@pytest.mark.slow
def test_live_a_good_certificate_is_no_finding_and_our_handshake_no_message(
    postgres_server: Callable[..., PostgresServer], tmp_path: Path
) -> None:
    server = postgres_server()
    use(server, tmp_path, timedelta(days=300))
    verdict = checkup(server.dsn())[1]
    assert not {"certificate_expires", "tls_handshakes_refused"} & {*causes(verdict)}
    assert "SSL" not in server.log
