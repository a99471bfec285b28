"""Who is told, and of what nobody is: a file in TOML.

page = "https://doctord.example.org/"      # for links; default: where doctord serve listens

[[to]]
kind = "alertmanager"                      # or "webhook"
url = "http://127.0.0.1:9093"
severity = "warning"                       # the least that is told; default: warning

[[to]]
kind = "webhook"
url_variable = "ONCALL_URL"                # a URL that is secret stands in a variable of the environment
token_variable = "ONCALL_TOKEN"            # sent as Authorization: Bearer

[[silence]]
name = "row_locks"                         # a cause, or a threshold
host = "db7"                               # left out: all hosts
reason = "the migration of this week, ticket 4711"
until = 2026-12-01T06:00:00Z
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

from doctord.app.alerts.state import Silence
from doctord.app.receivers import KEYS, Address, address, kind_of, read, tables
from doctord.errors import UserError

Kind = Literal["webhook", "alertmanager"]
KINDS: Final = ("webhook", "alertmanager")
SEVERITIES: Final = ("warning", "critical")
_TO: Final = KEYS | {"severity"}
_SILENCE: Final = frozenset({"name", "host", "reason", "until"})
_HINT: Final = "the keys stand in docs/how-to/get-alerts.md"


class Receiver(NamedTuple):
    """Where alerts of a severity and above go. `url` and `token` may be secrets: `name` is what a log may hold."""

    kind: Kind
    url: str
    token: str | None
    severity: str

    @property
    def name(self) -> str:
        """Its kind and host."""
        return f"{self.kind} {Address(self.url, self.token).host}"


class AlertSettings(NamedTuple):
    """Who is told, and what is silenced."""

    to: tuple[Receiver, ...]
    silences: tuple[Silence, ...]
    page: str | None = None


def read_settings(path: Path) -> AlertSettings:
    """The settings of a file.

    Raises:
        UserError: it cannot be read, or a key is missing, unknown or has no such value; it says which.
    """
    told = read(path, frozenset({"to", "silence", "page"}), _HINT)
    to = tuple(_receiver(f"{path}: to {number}", one) for number, one in enumerate(tables(path, told, "to"), 1))
    if not to:
        raise UserError(f"{path}: nobody is told: there is no [[to]]", _HINT)
    if not isinstance(told.get("page", ""), str):
        raise UserError(f"{path}: page is no address", 'page = "https://..."')
    silences = enumerate(tables(path, told, "silence"), 1)
    return AlertSettings(to, tuple(_silence(f"{path}: silence {at}", one) for at, one in silences), told.get("page"))


def _receiver(where: str, told: Mapping[str, Any]) -> Receiver:
    kind, severity = kind_of(where, told, KINDS, _TO), told.get("severity", "warning")
    if severity not in SEVERITIES:
        raise UserError(f"{where}: severity {severity!r} is none", f"one of {', '.join(SEVERITIES)}")
    return Receiver(cast(Kind, kind), *address(where, told, _HINT), severity)


def _silence(where: str, told: Mapping[str, Any]) -> Silence:
    if unknown := sorted(set(told) - _SILENCE):
        raise UserError(f"{where}: there is no key {unknown[0]!r}", f"keys are {', '.join(sorted(_SILENCE))}")
    for needed in ("name", "reason", "until"):
        if not told.get(needed):
            raise UserError(f"{where}: there is no {needed}", "a silence has a reason and an end")
    for text in ("name", "host", "reason"):
        if not isinstance(told.get(text, ""), str):
            raise UserError(f"{where}: {text} is no text", f'{text} = "..."')
    until = told["until"]
    if not isinstance(until, datetime):
        raise UserError(f"{where}: until is no moment", "2026-12-01T06:00:00Z, without quotes")
    return Silence(told["name"], told.get("host"), told["reason"], until if until.tzinfo else until.replace(tzinfo=UTC))
