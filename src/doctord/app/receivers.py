"""Receivers over HTTP: where they are, by the tables of a TOML file, and how they are told something."""

import logging
import os
import tomllib
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from doctord.errors import UserError

log = logging.getLogger(__name__)

KEYS: Final = frozenset({"kind", "url", "url_variable", "token_variable"})
NO_ANSWER: Final = 0
_ANSWER_S: Final = 10.0


class Address(NamedTuple):
    """Where a receiver is. `url` and `token` may be secrets: `host` is what a log may hold."""

    url: str
    token: str | None

    @property
    def host(self) -> str:
        """The host of its URL."""
        return str(urlsplit(self.url).hostname)


class _NoRedirect(HTTPRedirectHandler):
    """A token is not carried elsewhere."""

    def redirect_request(self, *_: object) -> None:
        """Nowhere: the redirect is the answer, an error."""
        return


_OPENER: Final = build_opener(_NoRedirect)


def read(path: Path, known: frozenset[str], hint: str) -> dict[str, Any]:
    """What a file of receivers holds.

    Raises:
        UserError: it cannot be read, or has a key that is none of `known`.
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", hint) from error
    except ValueError as error:  # not TOML, which says the line, or not UTF-8
        raise UserError(f"{path}: {error}", hint) from error
    if unknown := sorted(set(told) - known):
        raise UserError(f"{path}: there is no {unknown[0]!r}", hint)
    return told


def tables(path: Path, told: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The tables of a name that a file holds, in its order.

    Raises:
        UserError: what has that name are none.
    """
    found = told.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise UserError(f"{path}: {name} is no list of tables", f"write [[{name}]]")
    return found


def kind_of(where: str, told: Mapping[str, Any], kinds: tuple[str, ...], keys: frozenset[str]) -> str:
    """The kind of receiver that a table is of, one of `kinds`.

    Raises:
        UserError: there is none such, or a key is none of `keys`.
    """
    if unknown := sorted(set(told) - keys):
        raise UserError(f"{where}: there is no key {unknown[0]!r}", f"keys are {', '.join(sorted(keys))}")
    kind = told.get("kind")
    if kind not in kinds:
        raise UserError(f"{where}: kind {kind!r} is none", f"one of {', '.join(kinds)}")
    return str(kind)


def address(where: str, told: Mapping[str, Any], hint: str) -> Address:
    """The address that a table names, or the variables of the environment that hold what is secret.

    Raises:
        UserError: there is none or both, a variable is not set, or the URL is none.
    """
    if ("url" in told) is ("url_variable" in told):
        raise UserError(f"{where}: it needs either url or url_variable", hint)
    url = told["url"] if "url" in told else _variable(where, told["url_variable"])
    if not isinstance(url, str) or urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
        raise UserError(f"{where}: its URL is none of http:// or https://", hint)
    return Address(url, _variable(where, told["token_variable"]) if "token_variable" in told else None)


def post(who: str, url: str, token: str | None, body: bytes, headers: Mapping[str, str]) -> int:
    """Send a body; the status of the answer, `NO_ANSWER` where there is none.

    What is not 2xx stands in the log under `who`, without the receiver's secrets.
    """
    given = {"User-Agent": "doctord", **headers, **({"Authorization": f"Bearer {token}"} if token else {})}
    request = Request(url, body, headers=given, method="POST")  # noqa: S310 - http(s) alone
    try:
        with _OPENER.open(request, timeout=_ANSWER_S) as answer:
            return int(answer.status)
    except HTTPError as error:
        log.warning("%s does not take what it is sent: HTTP %d", who, error.code)
        return error.code
    except (OSError, HTTPException) as error:
        log.warning("%s cannot be told: %s", who, getattr(error, "reason", None) or type(error).__name__)
        return NO_ANSWER


def is_taken(status: int) -> bool:
    """Whether what was sent has arrived."""
    return 200 <= status < 300


def _variable(where: str, name: object) -> str:
    value = os.environ.get(str(name), "")
    if not value:
        raise UserError(f"{where}: the variable {name} is not set", "it is read from the environment of doctord serve")
    return value
