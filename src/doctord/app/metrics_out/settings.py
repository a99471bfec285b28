"""Where metrics go: a file in TOML.

every_s = 15                               # default: 15

[[to]]
kind = "remote_write"                      # of Prometheus, Mimir, Thanos, VictoriaMetrics
url = "http://127.0.0.1:9090/api/v1/write"

[[to]]
kind = "otlp"                              # OTLP over HTTP, as JSON: an OpenTelemetry collector
url = "http://127.0.0.1:4318/v1/metrics"
token_variable = "OTLP_TOKEN"              # sent as Authorization: Bearer
"""

from pathlib import Path
from typing import Final, Literal, NamedTuple, cast

from doctord.app.receivers import KEYS, Address, address, kind_of, read, tables
from doctord.errors import UserError

Kind = Literal["remote_write", "otlp"]
KINDS: Final = ("remote_write", "otlp")
EVERY_S: Final = 15.0
LEAST_S: Final = 1.0
_HINT: Final = "the keys stand in docs/how-to/send-metrics.md"


class Destination(NamedTuple):
    """A receiver of metrics."""

    kind: Kind
    address: Address

    @property
    def name(self) -> str:
        """Its kind and host."""
        return f"{self.kind} {self.address.host}"


class MetricsOut(NamedTuple):
    """Where metrics go, and how often (seconds)."""

    to: tuple[Destination, ...]
    every_s: float = EVERY_S


def read_settings(path: Path) -> MetricsOut:
    """The settings of a file.

    Raises:
        UserError: it cannot be read, or a key is missing, unknown or has no such value; it says which.
    """
    told = read(path, frozenset({"to", "every_s"}), _HINT)
    every_s = told.get("every_s", EVERY_S)
    if not isinstance(every_s, int | float) or isinstance(every_s, bool) or every_s < LEAST_S:
        raise UserError(f"{path}: every_s is no number from {LEAST_S:g} on", f"every_s = {EVERY_S:g}")
    to = []
    for number, one in enumerate(tables(path, told, "to"), 1):
        where = f"{path}: to {number}"
        kind = kind_of(where, one, KINDS, KEYS)
        to.append(Destination(cast(Kind, kind), address(where, one, _HINT)))
    if not to:
        raise UserError(f"{path}: metrics go nowhere: there is no [[to]]", _HINT)
    return MetricsOut(tuple(to), float(every_s))
