"""Who has the servers of a pool, and since when nothing was asked there: SHOW SERVERS and SHOW CLIENTS, linked."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from doctord.dataset.secrets import program_name

_MOST: Final = 200  # those that were asked for nothing for longest come first
_FORM: Final = "%Y-%m-%d %H:%M:%S"
_UNNAMED: Final = "(unnamed)"


def held(servers: Sequence[dict[str, Any]], clients: Sequence[dict[str, Any]]) -> Iterator[tuple[str, float]]:
    """Each server that a client has: `DATABASE USER PID PROGRAM@ADDRESS`, and seconds since its last request.

    The times are PgBouncer's, to the second and in its own zone: what is youngest is now, as we have just asked.
    USER is the pool's, PID the session's at the server, PROGRAM and ADDRESS are the client's.

    Source: PgBouncer documentation, "Usage": SHOW SERVERS (link, remote_pid, request_time), SHOW CLIENTS.
    """
    asked = [time for row in (*servers, *clients) if (time := _time(row["request_time"]))]
    by_address = {row["ptr"]: row for row in clients}
    taken = []
    for row in servers:
        last, client = _time(row["request_time"]), by_address.get(row["link"])
        if row["link"] and last and row.get("remote_pid"):
            program = program_name(str((client or row).get("application_name") or "")) or _UNNAMED
            at = f"@{client['addr']}" if client else ""
            name = f"{row['database']} {row['user']} {row['remote_pid']} {program}{at}"
            taken.append((name, (max(asked) - last).total_seconds()))
    yield from sorted(taken, key=lambda one: (-one[1], one[0]))[:_MOST]


def _time(text: object) -> datetime | None:
    """A time without its zone; null where there was none yet."""
    try:
        return datetime.strptime(str(text)[:19], _FORM)  # noqa: DTZ007 - only differences of it are told
    except ValueError:
        return None
