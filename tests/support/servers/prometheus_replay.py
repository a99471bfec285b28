"""A server on the loopback that answers as Prometheus does, out of what a real one once answered.

A recording is a JSON list of series as `/api/v1/query` of a range gives them. Of PromQL it knows what Doctor D asks.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

RECORDED = Path(__file__).parents[2] / "read" / "prometheus" / "recorded"
MOST_POINTS = 11_000
LABEL = re.compile(r'(\w+)=~?"((?:[^"\\]|\\.)*)"')
RANGE = re.compile(r"\[(\d+)(ms|s)\]$")
UNITS = {"ms": 1e-3, "s": 1.0}

Series = dict[str, Any]

BEGIN = datetime(2026, 11, 20, 10, tzinfo=UTC)
T0 = BEGIN.timestamp()
NODE, POSTGRES = "db1:9100", "db1:9187"


def series(
    name: str, values: Iterable[float | str | None], instance: str = NODE, every_s: float = 10, **labels: str
) -> Series:
    """A series that was scraped so often, each scrape a bit late as they are; null: not at that time."""
    told = [[T0 + number * every_s + 0.268, str(value)] for number, value in enumerate(values) if value is not None]
    return {"metric": {"__name__": name, "instance": instance, "job": "a", **labels}, "values": told}


def node(scrapes: int, instance: str = NODE, name: str = "vm1") -> list[Series]:
    return [
        series("node_uname_info", [1] * scrapes, instance, nodename=name),
        series("node_time_seconds", [T0 + 10 * number for number in range(scrapes)], instance),
        series("node_disk_reads_completed_total", [100 * number for number in range(scrapes)], instance, device="sda"),
    ]


def after(scrapes: float) -> datetime:
    return BEGIN + timedelta(seconds=10 * scrapes)


@dataclass
class Replay:
    """A running server: its address, and what it was asked."""

    address: str = ""
    asked: list[tuple[str, dict[str, str], str | None]] = field(default_factory=list)

    def queries(self, what: str) -> list[dict[str, str]]:
        return [values for path, values, _ in self.asked if path.endswith(f"/api/v1/{what}")]


def recorded(name: str) -> list[Series]:
    series: list[Series] = json.loads((RECORDED / name).read_text())
    return series


@contextmanager
def replay(
    series: Sequence[Series] = (),
    *,
    warnings: Sequence[str] = (),
    instead: Callable[[str], tuple[int, bytes]] | None = None,
    wrapped: Callable[[Any], Any] | None = None,
) -> Iterator[Replay]:
    """A server of these series; `instead` gives status and body of each path, `wrapped` changes its socket (TLS)."""
    server = Replay()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            self._answer(urlsplit(self.path).path, self.rfile.read(length).decode())

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self._answer(parts.path, parts.query)

        def _answer(self, path: str, form: str) -> None:
            values = {name: told[-1] for name, told in parse_qs(form).items()}
            server.asked.append((path, values, self.headers.get("Authorization")))
            status, body = instead(path) if instead else _answered(series, path, values, warnings)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if wrapped:
        http.socket = wrapped(http.socket)
    server.address = f"{'https://localhost' if wrapped else 'http://127.0.0.1'}:{http.server_port}"
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join(5)
        http.server_close()


def _answered(
    series: Sequence[Series], path: str, values: Mapping[str, str], warnings: Sequence[str]
) -> tuple[int, bytes]:
    what = path.rpartition("/")[2]
    chosen = [one for one in series if _fits(one["metric"], values.get("match[]") or values["query"])]
    if what == "series":
        begin, end = float(values.get("start", 0)), float(values.get("end", 1e11))
        data: Any = [one["metric"] for one in chosen if any(begin <= at <= end for at, _ in one.get("values", ()))]
    elif what == "query":
        number, unit = RANGE.search(values["query"]).groups()  # type: ignore[union-attr]
        end = float(values["time"])
        begin = end - int(number) * UNITS[unit]
        data = _matrix(chosen, lambda told: [pair for pair in told if begin <= pair[0] <= end])
    else:
        begin, end, step = (float(values[name]) for name in ("start", "end", "step"))
        if (end - begin) / step > MOST_POINTS:
            return 400, json.dumps(
                {"status": "error", "error": "exceeded maximum resolution of 11,000 points"}
            ).encode()
        lookback = float(values["lookback_delta"].rstrip("s"))
        moments = [begin + number * step for number in range(int((end - begin) / step) + 1)]
        data = _matrix(chosen, lambda told: [pair for at in moments if (pair := _at(told, at, lookback))])
    answer = {"status": "success", "data": data} | ({"warnings": [*warnings]} if warnings else {})
    return 200, json.dumps(answer).encode()


def _at(told: Sequence[Any], moment: float, lookback: float) -> list[Any] | None:
    last = next((value for at, value in reversed(told) if moment - lookback < at <= moment), None)
    return None if last is None else [moment, last]


def _matrix(chosen: Sequence[Series], taken: Callable[[Any], list[Any]]) -> Any:
    told = ({**one, "values": taken(one.get("values", ()))} for one in chosen)
    return {"resultType": "matrix", "result": [one for one in told if one["values"] or "histograms" in one]}


def _fits(labels: Mapping[str, str], selector: str) -> bool:
    conditions = LABEL.findall(RANGE.sub("", selector))
    return all(re.fullmatch(wanted.replace("\\\\", "\\"), labels.get(name, "")) for name, wanted in conditions)
