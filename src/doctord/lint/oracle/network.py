"""How clients reach Oracle: listeners, and the addresses that clients are told."""

import re
from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import phrase
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation
from doctord.regex import regex

LOGONS: Final = "v$sysstat.logons cumulative"
# A listener that forks a server process for each connection serves a few dozen a second at its best, and three of the
# casebook's at its worst: from one a second on it is worth a second one.
MANY_LOGONS_PER_S: Final = 1.0
NO_LISTENERS: Final = (
    "SID_LIST_", "INBOUND_CONNECT", "ADMIN_RESTRICTIONS", "SECURE_", "VALID_NODE", "DIAG_", "ADR_", "TRACE_", "LOG_",
    "SUBSCRIBE_", "REGISTRATION_", "USE_", "WALLET_", "CONNECTION_RATE",
)  # fmt: skip
PORT: Final = regex(r"([^.]+)\..*\bADDRESS(?:\[\d+\])?\.PORT$")
ON: Final = ("on", "yes", "true")


@rule("oracle_net")
def one_listener_for_all(subject: Subject) -> Iterator[Violation]:
    """One listener takes all connections.

    Why: a listener serves one connection after the other; while it makes a process, the others queue, and a slow one
        stops all of them.
    Evidence: the listeners of listener.ora; logons a second, dropped connections.
    Fix: A second listener on another port (local_listener names both) and LOAD_BALANCE=on for the clients; fewer
        logons by a connection pool, or shared servers. A restart of a listener that leaks spares the sessions that
        are there.
    Verify: Logons a second; doctord trace of each listener: a pass below a tenth of a second; no listen drops.
    Source: R. Milkowski, "Oracle's listener performance", 2008 (about 3 connections a second); Oracle Database Net
        Services Administrator's Guide, "Configuring Multiple Listeners".
    """
    ports: dict[str, set[str]] = {}
    for row in subject.rows:
        found = PORT.match(row.name)
        is_listener = found and "DESCRIPTION" in row.name and "CONNECT_DATA" not in _siblings(subject, found[1])
        if found and is_listener and not found[1].startswith(NO_LISTENERS):
            ports.setdefault(found[1], set()).add(row.value)
    if len(ports) != 1 or len(next(iter(ports.values()))) != 1:
        return
    name, logons = next(iter(ports)), subject.case.total(LOGONS)
    if logons is not None and logons < MANY_LOGONS_PER_S:
        return
    yield subject.violation(
        f"{name} takes all connections on one port",
        cost=f"{CANNOT_JUDGE} how many connections come: logons cumulative of an AWR report"
        if logons is None
        else phrase("{:.1f} connections a second, one after the other", logons),
        settings=[row for row in subject.rows if row.name.startswith(f"{name}.")][:1],
        severity=Severity.NOTE if logons is None else Severity.WARNING,
    )


@rule("oracle_net")
def addresses_not_balanced(subject: Subject) -> Iterator[Violation]:
    """A client is told several addresses, and takes the first as long as it answers.

    Why: without LOAD_BALANCE the second listener, or node, has nothing to do until the first fails.
    Evidence: entries of tnsnames.ora with several addresses in one list, and no LOAD_BALANCE=on.
    Fix: (LOAD_BALANCE=on) in the list, but for a standby that must come last.
    Verify: Logons a second of each listener are alike.
    Source: Oracle Database Net Services Reference, LOAD_BALANCE (on by default for a DESCRIPTION_LIST only).
    """
    entries = dict.fromkeys(row.name.partition(".")[0] for row in subject.rows if "." in row.name)
    for name in entries:
        held = _siblings(subject, name)
        several = any(re.search(r"\bADDRESS\[\d+\]\.HOST$", path) for path in held)
        balanced = any(path.endswith("LOAD_BALANCE") and value.lower() in ON for path, value in held.items())
        if several and "CONNECT_DATA" in held and not balanced:
            rows = [row for row in subject.rows if row.name.startswith(f"{name}.") and row.name.endswith(".HOST")]
            yield subject.violation(
                f"{name} has several addresses and no LOAD_BALANCE",
                cost=f"{CANNOT_JUDGE} the load of each: all clients of this entry take the first that answers",
                settings=rows,
                severity=Severity.NOTE,
            )


def _siblings(subject: Subject, name: str) -> dict[str, str]:
    """What stands below a name, by path; `CONNECT_DATA` is a key of its own where it is among it."""
    held = {row.name: row.value for row in subject.rows if row.name.startswith(f"{name}.")}
    return held | ({"CONNECT_DATA": ""} if any(".CONNECT_DATA." in path for path in held) else {})
