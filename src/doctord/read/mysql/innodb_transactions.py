"""The transactions in InnoDB's monitor: those that are open as sessions, and those of the latest deadlock."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final

from doctord.dataset.mysql_threads import Statements, client_of, wait_of
from doctord.dataset.rows import micros
from doctord.dataset.scrub import scrub
from doctord.dataset.tables import CLIENT
from doctord.regex import regex

MOMENT: Final = regex(r"(?:\d{6}|\d{4}-\d\d-\d\d) +\d{1,2}:?\d\d:?\d\d")
TRANSACTION: Final = regex(
    r"---TRANSACTION [^,]*,? ?(?P<state>not started|ACTIVE)(?: \([A-Z ]+\))?(?: (?P<age>\d+) sec)?"
)
IN_DEADLOCK: Final = regex(r"\*\*\* \((\d+)\) TRANSACTION:")
THREAD: Final = regex(r"(?:MySQL|MariaDB) thread id (?P<sid>\d{1,18}),.*? query id \d+ ?(?P<who>.*)$")
IP: Final = regex(r"[\d.]+$|[\da-fA-F:]*:[\da-fA-F:.]*$")
WAITED: Final = regex(r"-+ TRX HAS BEEN WAITING (\d+) (SEC|us|ns)", re.IGNORECASE)
SECONDS_IN: Final = {"sec": 1.0, "us": 1e-6, "ns": 1e-9}
LOCK_WAIT: Final = "LOCK WAIT"
AFTER_STATEMENT: Final = (
    "---",
    "***",
    "Trx read view",
    "TABLE LOCK",
    "RECORD LOCKS",
    "Trx #rec lock waits",
    "Record lock",
)


def sessions(section: list[str], about: dict[str, Any], statements: Statements) -> Iterator[dict[str, Any]]:
    """Rows of `session` of the transactions that are open.

    Args:
        section: The lines below TRANSACTIONS.
        about: Time and interval of the rows.
        statements: Is told their statements.
    """
    for lines in _parted(section, TRANSACTION):
        begins = TRANSACTION.match(lines[0])
        thread = next((found for line in lines if (found := THREAD.match(line))), None)
        if begins is None or begins["state"] != "ACTIVE" or thread is None:
            continue
        host, user, state = _who(thread["who"])
        text = _statement(lines)
        waits = any(line.startswith(LOCK_WAIT) for line in lines)
        is_idle = not text and not waits and not state
        age_s = float(begins["age"]) if begins["age"] else None
        wait = wait_of(LOCK_WAIT if waits else "idle" if is_idle else state, None)
        yield about | wait | {
            "sid": int(thread["sid"]),
            "kind": CLIENT,
            "user": user,
            "client": client_of(host),
            "state": "idle in transaction" if is_idle else "active",
            "statement_id": statements.add(text, about) if text else None,
            "in_state_s": next((float(found[1]) * SECONDS_IN[found[2].lower()]
                                for line in lines if (found := WAITED.match(line))), None),
            "transaction_s": age_s,
        }  # fmt: skip


def _parted(lines: list[str], begins: re.Pattern[str]) -> Iterator[list[str]]:
    """The lines of one transaction after the other."""
    part = list[str]()
    for line in lines:
        if begins.match(line):
            if part:
                yield part
            part = [line]
        elif part:
            part.append(line)
    if part:
        yield part


def _who(text: str) -> tuple[str, str | None, str]:
    """Host, user and state: the server writes the host's name, its address where it knows both, the user, the state."""
    words = text.split()
    host = words.pop(0) if words else ""
    if len(words) > 1 and IP.match(words[0]) and not IP.match(host):
        words.pop(0)
    return host, (words[0] if words else None), " ".join(words[1:])


def _statement(lines: list[str]) -> str:
    """What stands below the line of the thread, up to the locks."""
    below = next((at for at, line in enumerate(lines, 1) if THREAD.match(line)), len(lines))
    text = list[str]()
    for line in lines[below:]:
        if line.startswith(AFTER_STATEMENT):
            break
        text.append(line)
    return "\n".join(text).strip()


def deadlock(section: list[str], moment: Callable[[str], datetime | None]) -> Iterator[dict[str, Any]]:
    """A row of `event` for each transaction of the latest deadlock.

    Args:
        section: The lines below LATEST DETECTED DEADLOCK.
        moment: Makes a moment of the server's date and time.
    """
    found = next((found for line in section[:2] if (found := MOMENT.match(line))), None)
    at = moment(found[0]) if found else None
    if at is None:
        return
    for part in _parted(section, IN_DEADLOCK):
        number = IN_DEADLOCK.match(part[0])
        yield {
            "ts": micros(at),
            "kind": "deadlock",
            "subject": f"transaction {number[1] if number else ''}",
            "text": scrub(_statement(part), "mysql"),
        }
