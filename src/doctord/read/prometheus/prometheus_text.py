"""Prometheus' text exposition and OpenMetrics: what `curl http://host:9100/metrics` prints, once or several times.

Tables: those of node_exporter's metrics go to `cpu`, `memory`, `disk`, `filesystem`, `network`; those of
postgres_exporter and mysqld_exporter to `statistic` and `setting` under the server's own names
(`pg_stat_database.xact_commit`, entity the database); buckets of `..._seconds` histograms to `latency`; every other
metric to `statistic`, component `prometheus`, entity its labels. Counters become rates between two scrapes; of a
single one they are kept as readings, which they are. A scrape's time is that of its samples, else node_time_seconds,
else the file's; scrapes without any time are a second or --every apart.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from doctord._native import Batch
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.prometheus.names import CLOCK
from doctord.read.prometheus.samples import Sample, Series
from doctord.read.prometheus.scrapes import Scrapes
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "Prometheus' text format"
RANK = Rank.SHAPE
TYPE: Final = regex(r"# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary|untyped|unknown|info|stateset)\s*$")
LABEL: Final = regex(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')
SAMPLE: Final = regex(
    r'([a-zA-Z_:][\w:]*)(?:\{((?:\s*[a-zA-Z_]\w*="(?:[^"\\]|\\.)*"\s*,?)*)\s*\})?\s+(\S+)(?:\s+(-?[\d.]+))?\s*$'
)
ESCAPED: Final = regex(r"\\.")
ESCAPES: Final = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
MILLISECONDS_FROM: Final = 1e11  # smaller times are seconds (OpenMetrics)
NO_RATES: Final = "several scrapes without their times: only the last is used (--every tells what lies between two)"


@dataclass
class Scraped:
    """One scrape: its samples, the types that its comments tell by name, and when it was; null where nothing tells."""

    samples: list[Sample] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    moment: datetime | None = None


def sniff(head: str) -> bool:
    """Whether a type of a metric is told, in the form of this format."""
    return any(TYPE.match(line) for line in head.splitlines())


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of all scrapes."""
    scrapes, without_time = Scrapes(source), list[Scraped]()
    for scraped in _scrapes(source):
        if scraped.moment:
            yield from scrapes.take(scraped.moment, scraped.samples, types=scraped.types)
        else:
            without_time.append(scraped)
    if len(without_time) > 1 and not source.every_s:
        source.note(NO_RATES)
        del without_time[:-1]
    for moment, scraped in zip(untimed(source, len(without_time)) if without_time else (), without_time, strict=True):
        yield from scrapes.take(moment, scraped.samples, types=scraped.types)
    yield from scrapes.rest()


def _scrapes(source: SourceFile) -> Iterator[Scraped]:
    """Each scrape: a series that comes again begins another."""
    held, seen = Scraped(), set[tuple[object, ...]]()
    for line, text in source.lines():
        if told := TYPE.match(text):
            held.types[told[1]] = told[2]
        if not text.strip() or text.startswith("#"):
            continue
        sample, at = _sample(text)
        if sample is None:
            source.skip(line, "not a line of the text format")
            continue
        key = (sample.name, *sample.labels.items())
        if key in seen:
            yield held
            held, seen = Scraped(types=held.types), set()
        seen.add(key)
        held.samples.append(sample)
        held.moment = held.moment or at
    if held.samples:
        yield held


def _sample(text: str) -> tuple[Sample | None, datetime | None]:
    """A sample and when it was taken, where it tells."""
    found = SAMPLE.match(text.partition(" # {")[0])
    if found is None:
        return None, None
    try:
        value = float(found[3])
        at = float(found[4]) if found[4] else value if found[1] == CLOCK else None
        moment = datetime.fromtimestamp(at / 1e3 if at > MILLISECONDS_FROM else at, UTC) if at else None
    except (ValueError, OverflowError, OSError):
        return None, None
    labels = {
        name: re.sub(r"\\.", lambda pair: ESCAPES.get(pair[0], pair[0]), text)
        for name, text in LABEL.findall(found[2] or "")
    }
    return Sample(Series(found[1], labels), value), moment
