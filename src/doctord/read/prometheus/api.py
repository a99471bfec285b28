"""A Prometheus server, or an exporter, to read from: what it answers is kept as a file that the readers take.

`http://host:9090` asks for the last hour of what exporters told it. Parameters of the API change that:
`http://host:9090/?start=2026-11-20T10:00:00Z&end=2026-11-20T12:00:00Z&step=60&match={job="db"}`. Samples come as
they were scraped, unless a step is given, or is needed to have at most 720 points of a series.
`http://host:9100/metrics` is one scrape of an exporter. Who asks is told by the environment (`client.py`). What
`doctord diagnose --prometheus` asks for is in `server.py`.
"""

from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qs, urlencode, urlsplit, urlunsplit

from doctord.errors import UserError
from doctord.read.prometheus.client import checked, fetched

SCHEMES: Final = ("http:/", "https:/")
KNOWN: Final = '{__name__=~"(node|pg|mysql|oracledb)_.+"}'
LAST: Final = timedelta(hours=1)
MOST_POINTS: Final = 720
SCRAPED_EVERY_S: Final = 15
HINT: Final = "name a Prometheus server that answers: http://host:9090, or an exporter: http://host:9100/metrics"


def address_in(path: Path) -> str | None:
    """The address that was named instead of a file; null when it is a file. A path lost one of the slashes.

    >>> address_in(Path("http://db1:9090")), address_in(Path("http"))
    ('http://db1:9090', None)
    """
    text = str(path)
    scheme = next((scheme for scheme in SCHEMES if text.startswith(scheme)), None)
    return f"{scheme}/{text.removeprefix(scheme).lstrip('/')}" if scheme else None


def shown(address: str) -> str:
    """The address as it may be shown: without name, password and parameters.

    >>> shown("https://reader:secret@db1:9090/prom?start=1")
    'https://db1:9090/prom'
    """
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def fetch(address: str, file: Path) -> None:
    """Write what a server tells into a file.

    Raises:
        UserError: it does not answer, or refuses, or there is no such address.
    """
    try:
        parts = urlsplit(address)
        is_exporter = parts.path.rstrip("/").endswith("/metrics")
        wanted = address if is_exporter else _query(parts, datetime.now(UTC))
    except ValueError as error:
        raise UserError(f"{shown(address)}: {error}", HINT) from error
    checked(address.partition("?")[0])
    file.write_bytes(fetched(wanted, shown(address)))


def _query(parts: SplitResult, now: datetime) -> str:
    """The address of the query for what the parameters ask.

    Raises:
        ValueError: a parameter is no moment, or no number.
    """
    asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    until = _moment(asked["end"]) if "end" in asked else now
    since = _moment(asked["start"]) if "start" in asked else until - LAST
    length_s = (until - since).total_seconds()
    if length_s <= 0:
        raise ValueError("it ends before it starts")
    match = asked.get("match", KNOWN)
    if "step" not in asked and length_s <= MOST_POINTS * SCRAPED_EVERY_S:
        query, values = "query", {"query": f"{match}[{ceil(length_s)}s]", "time": until.timestamp()}
    else:
        step_s = float(asked.get("step", ceil(length_s / MOST_POINTS)))
        query, values = "query_range", {"query": match, "start": since.timestamp(), "end": until.timestamp()}
        values |= {"step": step_s}
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/api/v1/{query}", query=urlencode(values)))


def _moment(text: str) -> datetime:
    """A moment as the API takes them: seconds since 1970, or with its zone."""
    if text.replace(".", "", 1).isdecimal():
        return datetime.fromtimestamp(float(text), UTC)
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text} does not tell its zone (2026-11-20T10:00:00Z)")
    return moment
