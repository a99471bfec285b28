"""What threads of MySQL and MariaDB do: their waits, as far as states tell, and their statements."""

from typing import Any, Final

from doctord.dataset.scrub import scrub, text_id
from doctord.dataset.waits.events import find
from doctord.regex import regex

# Plans are made in milliseconds. Versions to 5.5 show these states also while subqueries run, and a disk that is slow
# is in them too: from here on a state does not tell what the time goes into.
PLANNING: Final = ("statistics", "optimizing", "preparing")
LONG_FOR_A_PLAN_S: Final = 2.0
RUNNING: Final = "running"
ADDRESS: Final = regex(r"(?P<host>\[?[^\s]*?\]?)(?::\d+)?$")


def wait_of(state: str, since_s: float | None) -> dict[str, str | None]:
    """Class, event and kind of what a thread in this state waits for; `Unaccounted` where the state does not tell.

    MySQL shows one state for reading, computing and sending alike: such a thread may be on a CPU or waiting for a disk.

    Args:
        state: As the server writes it; empty for none.
        since_s: For how long it runs its statement; null: not known.

    >>> wait_of("Waiting for table metadata lock", 3)["wait_kind"], wait_of("Sending data", 3)["event"]
    ('table lock', 'running: Sending data')
    """
    known = find("mysql", state) if state else None
    is_long = (since_s or 0.0) >= LONG_FOR_A_PLAN_S
    if known is None or (state.lower() in PLANNING and is_long):
        event = f"{RUNNING}: {state}" if state else RUNNING
        return {"wait_class": "Unaccounted", "event": event, "wait_kind": None}
    return {"wait_class": known.wait_class, "event": known.event if "%" not in known.event else state,
            "wait_kind": known.wait_kind}  # fmt: skip


def client_of(host: str) -> str | None:
    """A client's address without its port; null for a local socket.

    >>> client_of("10.0.0.7:51234"), client_of("localhost"), client_of("::1")
    ('10.0.0.7', None, '::1')
    """
    if host.count(":") > 1 and not host.startswith("["):
        return host
    found = ADDRESS.match(host)
    name = found["host"].strip("[]") if found else host
    return None if name in {"", "localhost"} else name


class Statements:
    """The statements of sessions: each told once for a moment, without its values."""

    def __init__(self) -> None:
        """None is known yet."""
        self.rows: list[dict[str, Any]] = []
        self._told: set[tuple[str, object]] = set()

    def add(self, text: str, about: dict[str, Any]) -> str | None:
        """The identifier of a statement; null where there is none. `about`: time, interval and database of its row."""
        plain = scrub(text, "mysql")
        if not plain:
            return None
        named = text_id(plain)
        if (named, about.get("ts")) not in self._told:
            self._told.add((named, about.get("ts")))
            self.rows.append(about | {"statement_id": named, "text": plain})
        return named
