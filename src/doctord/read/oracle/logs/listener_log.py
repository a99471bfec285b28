"""The log of Oracle's listener, as text (`listener.log`) or XML (`log.xml`).

A line is `TIME * CONNECT_DATA * ADDRESS * COMMAND * SERVICE * CODE`, the code being 0, or that of the refusal (12516,
12518, 12519, 12520: no handler; 12514, 12505: service not known; ...). It yields `statistic`, per second:
- for each minute `listener.establish` (entity: service; null: all, with minutes without any) and `listener.refused`
  (entity: service and code);
- for each hour `listener.establish_by_client` and `listener.refused_by_client` (entity: program and host);
and `event`: kind `connection refused` (subject: service and code, text: how many in that minute), `error` (TNS errors
of the listener itself), `restart`.

Of what a client sends only the program's name and the host are kept. Times are local: their zone is that of the stamps
between the lines (since 12.2, and in log.xml), else that of --zone, else UTC. A minute that is not over is left out.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.format import Rank
from doctord.read.oracle.logs.diagnostic_log import DiagnosticLog, LogLine, component, is_xml
from doctord.read.oracle.logs.tally import Counted, Tally
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "Oracle listener logs"
RANK = Rank.NAMED
NO_MOMENT = "no date and time of day"
NOT_A_RESULT = "a request without its result"
MINUTE_S, HOUR_S = 60, 3600
ALL = "\0all"

TIME = r"(\d\d-\w{3}-\d{4} \d\d:\d\d:\d\d)(?::\d+)?"
REQUEST = regex(rf"{TIME} \* ")
BEGINS = regex(rf"^(?:{TIME} \* |TNSLSNR for |TIMESTAMP \* CONNECT DATA )", re.MULTILINE)
ERROR = regex(r"^\s*(TNS-\d{5}): (.*)")
START = regex(rf"^TNSLSNR for .* on {TIME}")
PATH = regex(r".*[\\/]")


def sniff(head: str) -> bool:
    """Whether a file that begins so is a listener's log."""
    if is_xml(head):
        return component(head) == "tnslsnr"
    return bool(BEGINS.search(head))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic` and `event`, when all is counted."""
    return ListenerLog(source).batches()


class ListenerLog:
    """What a listener's log tells: connections and refusals by minute, clients by hour, what went wrong."""

    def __init__(self, source: SourceFile) -> None:
        """Nothing is counted yet."""
        self._source = source
        self._log = DiagnosticLog(source)
        self._moments: tuple[str, int] = ("", 0)  # many requests are of one second
        self._established, self._refused = Tally(MINUTE_S), Tally(MINUTE_S)
        self._clients, self._refused_clients = Tally(HOUR_S), Tally(HOUR_S)
        self._established.always.add(ALL)
        self._events: list[dict[str, Any]] = []
        self._latest_us: int | None = None
        self._refusal = False  # TNS- lines below a refused request say the same again

    def batches(self) -> Iterator[Batch]:
        """Rows of `statistic` (rates of connections and refusals) and of `event`."""
        for line in self._log.lines():
            self._take(line)
        about = {"host": self._source.host}
        yield rows("statistic", [about | row for row in self._rates()])
        yield rows("event", [about | row for row in [*self._events, *self._refusals()]])

    def _take(self, line: LogLine) -> None:
        text = line.text
        if (found := REQUEST.match(text)) is not None:
            self._request(line, found[1])
        elif (error := ERROR.match(text)) and not self._refusal:
            self._tell(line, "error", error[1], error[2])
        elif (start := START.match(text)) and self._moment(line.number, start[1]) is not None:
            self._tell(line, "restart", "listener", "started")

    def _request(self, line: LogLine, stamp: str) -> None:
        at_us = self._moment(line.number, stamp)
        parts = line.text.rstrip().split(" * ")[1:]
        self._refusal = False
        if at_us is None:
            return
        if not parts or not parts[-1].isdecimal():
            self._source.skip(line.number, NOT_A_RESULT)
            return
        # TIME * [CONNECT_DATA *] [ADDRESS *] COMMAND * [SERVICE *] CODE
        command, *service = [part for part in parts[:-1] if not part.startswith("(")] or ["unknown"]
        code = int(parts[-1])
        for tally in (self._established, self._refused, self._clients, self._refused_clients):
            tally.saw(at_us)
        if command == "establish":
            self._connection(at_us, line.text, service[0] if service else "(none)", code)
        elif code:
            self._events.append(_event(at_us, "error", f"TNS-{code:05}", command))
        self._refusal = bool(code)

    def _connection(self, at_us: int, text: str, service: str, code: int) -> None:
        self._established.add(at_us, service)
        self._established.add(at_us, ALL)
        client = client_of(text)
        self._clients.add(at_us, client)
        if code:
            self._refused.add(at_us, f"{service} TNS-{code:05}")
            self._refused_clients.add(at_us, client)

    def _moment(self, number: int, stamp: str) -> int | None:
        if stamp != self._moments[0]:
            try:
                moment = datetime.strptime(stamp.title(), "%d-%b-%Y %H:%M:%S")  # noqa: DTZ007 - placed below
            except ValueError:
                self._source.skip(number, NO_MOMENT)
                return None
            self._moments = (stamp, micros(self._log.placed(moment)))
        self._latest_us = self._moments[1]
        return self._latest_us

    def _tell(self, line: LogLine, kind: str, subject: str, text: str) -> None:
        at_us = self._latest_us if line.at_us is None else line.at_us
        if at_us is not None:
            event = _event(at_us, kind, subject, text)
            if self._events[-1:] != [event]:
                self._events.append(event)

    def _rates(self) -> Iterator[dict[str, Any]]:
        for name, tally in (
            ("establish", self._established),
            ("refused", self._refused),
            ("establish_by_client", self._clients),
            ("refused_by_client", self._refused_clients),
        ):
            for of in tally.counted():
                yield _rate(f"listener.{name}", of)

    def _refusals(self) -> Iterator[dict[str, Any]]:
        for of in self._refused.counted():
            yield _event(of.end_us, "connection refused", of.key or "", f"{of.count} within {of.length_s:.0f} s")


def client_of(text: str) -> str:
    r"""Who asked: the name of the program, without its folder, and the host from which the connection came.

    >>> client_of(r"* (CONNECT_DATA=(CID=(PROGRAM=C:\bin\app.exe)(HOST=pc))) * (ADDRESS=(HOST=10.0.0.1)(PORT=5)) * ")
    'app.exe on 10.0.0.1'
    """
    data, _, address = text.partition(") * (ADDRESS")
    program = PATH.sub("", _part(data, "(PROGRAM=")).partition("@")[0]
    host = _part(address, "(HOST=") or _part(data, "(HOST=")
    return f"{program or 'unknown program'} on {host or 'unknown host'}"


def _part(text: str, key: str) -> str:
    """What stands after a key, up to the bracket; empty where it is not there."""
    begin = text.find(key) + len(key)
    return text[begin : text.find(")", begin)] if begin >= len(key) else ""


def _rate(name: str, of: Counted) -> dict[str, Any]:
    entity = None if of.key == ALL else of.key
    figure = {"value": of.count / of.length_s, "unit": "per_s", "kind": "rate"}
    return {"ts": of.end_us, "interval_s": of.length_s, "component": "oracle", "name": name, "entity": entity} | figure


def _event(at_us: int, kind: str, subject: str, text: str) -> dict[str, Any]:
    return {"ts": at_us, "kind": kind, "subject": subject, "text": text}
