"""What exporters told a Prometheus server of one host, asked for over its HTTP API.

Samples are asked for as they were scraped, each with its own time. Of a time with more than 11,000 scrapes, which is
what Prometheus gives of a series at once, every so many of them are taken (query_range with a step).
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from math import ceil
from statistics import mean, median
from typing import Any, Final

import pyarrow as pa

from doctord._native import Batch
from doctord.dataset.dataset import arrow_tables
from doctord.dataset.rows import micros, rows
from doctord.errors import UserError
from doctord.read.plausible import judged
from doctord.read.prometheus.answers import added_labels, scrapes_in
from doctord.read.prometheus.client import NO_PROMETHEUS, Client
from doctord.read.prometheus.hosts import Scraped
from doctord.read.prometheus.names import CLOCK, HOST_NAME, PG_VIEWS, UP, places
from doctord.read.prometheus.samples import host_in, target_of
from doctord.read.prometheus.scrapes import Scrapes
from doctord.read.prometheus.sessions import BUILD
from doctord.read.prometheus.target import Target
from doctord.read.prometheus.threads import THREADS
from doctord.read.prometheus.unseen import unseen
from doctord.read.source import SourceFile

EACH_SCRAPE: Final = (CLOCK, *UP)
PREFIXES: Final = ("pg_settings", "mysql_global_status", "mysql_global_variables", *PG_VIEWS)
MOST_POINTS: Final = 11_000  # Prometheus, web/api/v1: of a series at once
MOST_SAMPLES: Final = 500_000  # of one answer, some 20 MB
USUAL_S: Final = 60.0  # between two scrapes, where there are no two
A_DAY_S: Final = 86400.0
PARTIAL: Final = "a part of what was asked for"


@dataclass(frozen=True)
class Asked:
    """What is asked for of a host.

    Attributes:
        client: Whom to ask.
        instances: The host's targets, as the condition of a selector.
        since: Its samples come after it.
        until: And no later than this.
        step_s: So many seconds lie between two samples; 0: as they were scraped.
        every: How many seconds usually lie between two scrapes, by target.
    """

    client: Client
    instances: str
    since: datetime
    until: datetime
    step_s: float
    every: Mapping[str, float]

    @classmethod
    def of(cls, client: Client, host: Scraped, since: datetime, until: datetime, step_s: float) -> "Asked":
        """The same, with the step that the length of the time needs."""
        instances = f'instance=~"{"|".join(_quoted(one) for one in sorted(host.instances))}"'
        every = _every(client, f'{{__name__=~"{"|".join(EACH_SCRAPE)}",{instances}}}', since, until)
        shortest_s, longest_s = (find(every.values(), default=USUAL_S) for find in (min, max))
        step_s = max(step_s, (until - since).total_seconds() / MOST_POINTS)
        # Between two scrapes of a target a step would tell the same sample again: a counter that stands, then jumps.
        step_s = ceil(step_s / longest_s) * longest_s if step_s > shortest_s else 0.0
        return cls(client, instances, since, until, step_s, every)

    @property
    def selector(self) -> str:
        """The selector of all series of the host that have a place in the dataset."""
        return f'{{__name__=~"{_names()}",{self.instances}}}'

    def series(self) -> Sequence[Mapping[str, str]]:
        """The labels of all series."""
        series: Sequence[Mapping[str, str]] = self.client.ask(
            "series", match=self.selector, start=self.since.timestamp(), end=self.until.timestamp()
        )
        return series

    def answers(self, series: int) -> Iterator[Sequence[Mapping[str, Any]]]:
        """Answer after answer, each of as long a time as fits into one; it begins early, for rates are of two samples.

        Args:
            series: How many there are.
        """
        longest_s = max(self.every.values(), default=USUAL_S)
        early_s = self.step_s or 2 * longest_s
        begin, end = (self.since - timedelta(seconds=early_s)).timestamp(), self.until.timestamp()
        each_s = self.step_s or min(self.every.values(), default=USUAL_S)
        length_s = each_s * max(min(MOST_SAMPLES // max(series, 1), MOST_POINTS - 1), 1)
        while begin < end:
            upto = min(begin + length_s, end)
            yield self._result(begin, upto, longest_s)
            begin = upto

    def _result(self, begin: float, end: float, longest_s: float) -> Sequence[Mapping[str, Any]]:
        """The series with their samples after one moment, and up to another."""
        if not self.step_s:
            data = self.client.ask("query", query=f"{self.selector}[{ceil((end - begin) * 1000)}ms]", time=end)
        elif begin + self.step_s <= end:
            # A sample that is older than that was not scraped in this step: elsewhere it would be told again.
            lookback = f"{ceil(self.step_s + longest_s)}s"
            data = self.client.ask(
                "query_range", query=self.selector, start=begin + self.step_s, end=end,
                step=self.step_s, lookback_delta=lookback,
            )  # fmt: skip
        else:
            return []
        try:
            return [_after(one, begin) for one in data["result"]]
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{self.client.address} is no Prometheus: it answers otherwise", NO_PROMETHEUS) from error


def read_host(
    client: Client, host: Scraped, since: datetime, until: datetime, step_s: float = 0.0
) -> tuple[SourceFile, dict[str, pa.Table]]:
    """What exporters told of a host from one moment to another: its rows by table, and what could not be used.

    Args:
        client: Whom to ask.
        host: The host, as `hosts` gives it.
        since: Its rows end after it.
        until: And no later than this.
        step_s: At least so many seconds lie between two samples; 0: as they were scraped.

    Raises:
        UserError: the server does not answer, or refuses.
    """
    source = SourceFile(client.address, "", io.BufferedReader(io.BytesIO()))
    asked = Asked.of(client, host, since, until, step_s)
    tables = judged(source, arrow_tables(list(_batches(asked, host, source))))
    source.sum_up()
    return source, tables


def _batches(asked: Asked, host: Scraped, source: SourceFile) -> Iterator[Batch]:
    series = asked.series()
    if not series:
        return
    if asked.step_s:
        source.note(f"a sample in {asked.step_s:g} s is taken: there are more than {MOST_POINTS:,} scrapes")
    names = dict.fromkeys((host_in(target_of(labels)) or "" for labels in series), host.name)
    scrapes = Scrapes(source, names, {target: max(every, asked.step_s) for target, every in asked.every.items()})
    added = added_labels(series)
    for result in asked.answers(len(series)):
        yield from scrapes.take_all(scrapes_in(result, source, added))
    yield from scrapes.rest()
    yield _not_measured(asked, host, [target for target in scrapes.targets.values() if target.tells_waits is False])


def _not_measured(asked: Asked, host: Scraped, untold: Sequence[Target]) -> Batch:
    """What cannot be seen; what the server itself says is missing."""
    common = {"ts": micros(asked.until.astimezone(UTC)), "host": host.name, "kind": "not measured"}
    at_work = [mean(target.at_work) for target in untold]
    told = [one._asdict() for one in unseen(host.components, sum(at_work) if at_work else None)]
    if asked.client.warnings:
        text = "; ".join(asked.client.warnings)[:500]
        told.append({"subject": PARTIAL, "text": f"Prometheus warns: {text}", "hint": "ask again when all of it is up"})
    return rows("event", [common | one for one in told])


def _every(client: Client, selector: str, since: datetime, until: datetime) -> dict[str, float]:
    """How many seconds usually lie between two scrapes, of each target that was scraped twice."""
    length_s = min((until - since).total_seconds(), A_DAY_S)
    result = client.ask("query", query=f"{selector}[{ceil(length_s)}s]", time=until.timestamp())["result"]
    found = dict[str, float]()
    for one in result:
        moments = [float(pair[0]) for pair in one.get("values") or ()]
        if len(moments) > 1:
            found[target_of(one["metric"])] = median(after - before for before, after in pairwise(moments))
    return found


def _after(one: Mapping[str, Any], begin: float) -> Mapping[str, Any]:
    """A series without what the answer before had."""
    return {**one, "values": [pair for pair in one.get("values") or () if float(pair[0]) > begin]}


@cache
def _names() -> str:
    """All metrics that have a place, as the regular expression of a selector."""
    return "|".join((*sorted(places()), *UP, HOST_NAME[0], BUILD, THREADS, *(f"{prefix}_.+" for prefix in PREFIXES)))


def _quoted(text: str) -> str:
    r"""A label's value as it stands in a regular expression in a string of PromQL.

    >>> print(_quoted("db-1.x:9100"))
    db-1\\.x:9100
    """
    return re.escape(text).replace("\\-", "-").replace("\\", "\\\\").replace('"', '\\"')
