"""The HTTP API of a Prometheus, or of what answers as one does (Thanos, Mimir, VictoriaMetrics).

Who asks is told by the environment alone: DOCTORD_PROMETHEUS_TOKEN is a bearer token, DOCTORD_PROMETHEUS_USER and
DOCTORD_PROMETHEUS_PASSWORD are a name and password. They go to the address that was named, and are not sent on where
it redirects to. Certificates are those that the system trusts (SSL_CERT_FILE names others).
"""

import base64
import json
import os
from typing import Any, Final
from urllib.parse import urlencode, urlsplit, urlunsplit

from doctord.errors import UserError

TOKEN, USER, PASSWORD = "DOCTORD_PROMETHEUS_TOKEN", "DOCTORD_PROMETHEUS_USER", "DOCTORD_PROMETHEUS_PASSWORD"
TIMEOUT_S: Final = 60.0
MOST_BYTES: Final = 1 << 30
SCHEMES: Final = ("http", "https")
HINT: Final = "name a Prometheus server that answers: http://host:9090"
NO_PROMETHEUS: Final = f"{HINT}; below a path (--web.route-prefix) with that path"


class Client:
    """Asks one server. `warnings` is what it said beside its answers: they may be partial then."""

    def __init__(self, address: str) -> None:
        """Nothing was asked yet.

        Raises:
            UserError: the address is none, or has a password in it.
        """
        self.address = checked(address)
        self.warnings = list[str]()

    def ask(self, what: str, **values: str | float) -> Any:  # noqa: ANN401 - whatever JSON holds
        """The `data` of an answer.

        Args:
            what: The endpoint: `query`, `query_range`, `series`.
            values: Its parameters; `match` stands for `match[]`.

        Raises:
            UserError: it does not answer, or refuses, or is no Prometheus.
        """
        if "match" in values:
            values["match[]"] = values.pop("match")
        content = fetched(f"{self.address}/api/v1/{what}", self.address, urlencode(values).encode())
        try:
            answer = json.loads(content)
            status, data = answer["status"], answer.get("data")
            told = list(answer.get("warnings") or ())
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(f"{self.address} is no Prometheus: it answers otherwise", NO_PROMETHEUS) from error
        if status != "success" or data is None:
            raise _failed(self.address, answer)
        self.warnings += [text for text in map(str, told) if text not in self.warnings]
        return data


def checked(address: str) -> str:
    """The address of a server, without a slash at its end.

    >>> checked("https://db1:9090/prom/")
    'https://db1:9090/prom'

    Raises:
        UserError: it is none, or a name and password are in it.
    """
    try:
        parts = urlsplit(address)
        named = parts.hostname and parts.scheme in SCHEMES and (parts.port is None or parts.port > 0)
    except ValueError:
        named = False
    if "@" in address:
        raise UserError(
            "a name and password in an address are seen by everybody on this host (ps)",
            f"leave them out, and set {USER} and {PASSWORD} in the environment",
        )
    if not named or parts.query or parts.fragment:
        raise UserError("that is no address of a Prometheus", HINT)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def fetched(address: str, name: str, form: bytes | None = None) -> bytes:
    """What a server answers; a form is posted, for names of hundreds of metrics make a long address.

    Args:
        address: The whole address.
        name: The same as it may be shown.
        form: What is posted; null: it is a GET.

    Raises:
        UserError: it does not answer, or refuses.
    """
    from http.client import HTTPException  # noqa: PLC0415 - every reader of files imports this module, few ask a server
    from urllib.error import HTTPError  # noqa: PLC0415
    from urllib.request import Request, urlopen  # noqa: PLC0415

    request = Request(address, data=form)  # noqa: S310 - whoever calls knows the scheme
    for header, value in _authorization().items():
        request.add_unredirected_header(header, value)
    try:
        with urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310 - likewise
            content: bytes = answer.read(MOST_BYTES + 1)
            is_cut = bool(answer.length) and len(content) <= MOST_BYTES
    except HTTPError as error:
        with error:
            raise _refused(name, error.code, str(error.reason), error.read(1 << 16)) from error
    except (OSError, HTTPException, ValueError) as error:
        why = str(getattr(error, "reason", error)) or repr(error)
        raise UserError(f"{name} does not answer: {why}", HINT) from error
    if is_cut:
        raise UserError(
            f"{name} does not answer: what it sent was cut", "ask again; a proxy before it may have ended it"
        )
    if len(content) > MOST_BYTES:
        raise UserError(f"{name} answers with more than {MOST_BYTES >> 30} GiB", "ask for less: --from, --to, --host")
    return content


def _authorization() -> dict[str, str]:
    """Who asks, as a header; empty where the environment tells nobody."""
    if token := os.environ.get(TOKEN):
        return {"Authorization": f"Bearer {token}"}
    if user := os.environ.get(USER):
        pair = f"{user}:{os.environ.get(PASSWORD, '')}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return {}


def _refused(name: str, status: int, reason: str, content: bytes) -> UserError:
    """What an answer of HTTP that is an error means."""
    if status in {401, 403}:
        told = "who it is told to be may not" if _authorization() else f"set {TOKEN}, or {USER} and {PASSWORD}"
        return UserError(f"{name} refuses: {status} {reason}", f"{told} (environment)")
    try:
        answer = json.loads(content)
        if answer["status"] == "error":
            return _failed(name, answer)
    except (ValueError, KeyError, TypeError):
        pass
    if status == 404:
        return UserError(f"{name} is no Prometheus: it has no /api/v1 ({status} {reason})", NO_PROMETHEUS)
    return UserError(f"{name} refuses: {status} {reason}", HINT)


def _failed(name: str, answer: dict[str, Any]) -> UserError:
    return UserError(f"{name} cannot answer: {answer.get('error') or 'it does not say why'}", "ask for less time")
