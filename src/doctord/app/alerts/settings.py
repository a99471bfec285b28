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

import os
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast
from urllib.parse import urlsplit

from doctord.app.alerts.state import Silence
from doctord.errors import UserError

Kind = Literal["webhook", "alertmanager"]
KINDS: Final = ("webhook", "alertmanager")
SEVERITIES: Final = ("warning", "critical")
_TO: Final = frozenset({"kind", "url", "url_variable", "token_variable", "severity"})
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
        return f"{self.kind} {urlsplit(self.url).hostname}"


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
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", _HINT) from error
    except ValueError as error:  # not TOML, which says the line, or not UTF-8
        raise UserError(f"{path}: {error}", _HINT) from error
    if unknown := sorted(set(told) - {"to", "silence", "page"}):
        raise UserError(f"{path}: there is no {unknown[0]!r}", _HINT)
    to = tuple(_receiver(f"{path}: to {number}", one) for number, one in enumerate(_tables(path, told, "to"), 1))
    if not to:
        raise UserError(f"{path}: nobody is told: there is no [[to]]", _HINT)
    if not isinstance(told.get("page", ""), str):
        raise UserError(f"{path}: page is no address", 'page = "https://..."')
    silences = enumerate(_tables(path, told, "silence"), 1)
    return AlertSettings(to, tuple(_silence(f"{path}: silence {at}", one) for at, one in silences), told.get("page"))


def _tables(path: Path, told: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    tables = told.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise UserError(f"{path}: {name} is no list of tables", f"write [[{name}]]")
    return tables


def _receiver(where: str, told: Mapping[str, Any]) -> Receiver:
    _known(where, told, _TO)
    kind, severity = told.get("kind"), told.get("severity", "warning")
    if kind not in KINDS:
        raise UserError(f"{where}: kind {kind!r} is none", f"one of {', '.join(KINDS)}")
    if severity not in SEVERITIES:
        raise UserError(f"{where}: severity {severity!r} is none", f"one of {', '.join(SEVERITIES)}")
    if ("url" in told) is ("url_variable" in told):
        raise UserError(f"{where}: it needs either url or url_variable", _HINT)
    url = told["url"] if "url" in told else _variable(where, told["url_variable"])
    if not isinstance(url, str) or urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
        raise UserError(f"{where}: its URL is none of http:// or https://", _HINT)
    token = _variable(where, told["token_variable"]) if "token_variable" in told else None
    return Receiver(cast(Kind, kind), url, token, severity)


def _silence(where: str, told: Mapping[str, Any]) -> Silence:
    _known(where, told, _SILENCE)
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


def _known(where: str, told: Mapping[str, Any], known: frozenset[str]) -> None:
    if unknown := sorted(set(told) - known):
        raise UserError(f"{where}: there is no key {unknown[0]!r}", f"keys are {', '.join(sorted(known))}")


def _variable(where: str, name: object) -> str:
    value = os.environ.get(str(name), "")
    if not value:
        raise UserError(f"{where}: the variable {name} is not set", "it is read from the environment of doctord serve")
    return value
