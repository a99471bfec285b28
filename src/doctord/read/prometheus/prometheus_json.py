"""Answers of Prometheus' HTTP API, as saved from /api/v1/query_range or /api/v1/query.

Tables: as of Prometheus' text format. The types of metrics are not in it: a counter is what is known as one, or ends
in `_total`, `_count`, `_sum` or `_bucket`. Each `instance` is a target of its own, and its host that of
node_uname_info, else that in the instance. Results of an expression, which have no name, are `statistic`
`expression`, entity their labels.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from doctord._native import Batch
from doctord.errors import UserError
from doctord.read.figures import number
from doctord.read.format import Rank
from doctord.read.prometheus.scrapes import Sample, Scrapes
from doctord.read.source import SourceFile

NAME = "Prometheus' HTTP API"
RANK = Rank.NAMED
UNNAMED: Final = "expression"


def sniff(head: str) -> bool:
    """Whether it is an answer with a matrix or a vector."""
    begin = "".join(head[:400].split())
    return begin.startswith("{") and '"status":"' in begin and '"resultType":"' in begin


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of all series, scrape by scrape.

    Raises:
        UserError: it is not the whole document, or says that the query failed.
    """
    try:
        document = json.loads(source.content())
        if document.get("status") != "success":
            raise UserError(
                f"{source.name}: the query failed: {document.get('error')}", "save an answer that succeeded"
            )
        result = document["data"]["result"]
        series = [(dict(one["metric"]), one.get("values") or [one["value"]]) for one in result]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(
            f"{source.name}: not a whole answer of Prometheus' API: {error}", "save the whole answer of query_range"
        ) from error
    scrapes = Scrapes(source)
    for (moment_us, target), samples in sorted(_by_scrape(series, source).items()):
        moment = datetime.fromtimestamp(moment_us / 1e6, UTC)
        named = (Sample(labels.pop("__name__", UNNAMED), labels, value) for labels, value in _labelled(samples))
        yield from scrapes.take(moment, list(named), target)
    yield from scrapes.rest()


def _by_scrape(series: list[tuple[dict[str, str], list[Any]]], source: SourceFile) -> dict[tuple[int, str], list[Any]]:
    """Labels and values of all series, by moment (microseconds) and target."""
    held = dict[tuple[int, str], list[Any]]()
    for labels, values in series:
        target = labels.get("instance", "")
        for pair in values:
            try:
                moment_us, value = round(float(pair[0]) * 1e6), number(str(pair[1]))
                datetime.fromtimestamp(moment_us / 1e6, UTC)
            except (TypeError, ValueError, IndexError, OverflowError, OSError):
                source.skip(0, "a value without its time")
                continue
            if value is not None:
                held.setdefault((moment_us, target), []).append((labels, value))
    return held


def _labelled(samples: list[tuple[dict[str, str], float]]) -> Iterator[tuple[dict[str, str], float]]:
    return ((dict(labels), value) for labels, value in samples)
