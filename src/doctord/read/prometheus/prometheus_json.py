"""Answers of Prometheus' HTTP API, as saved from /api/v1/query_range or /api/v1/query.

Tables: as of Prometheus' text format. The types of metrics are not in it: a counter is what is known as one, or ends
in `_total`, `_count`, `_sum` or `_bucket`. Each `instance` is a target of its own, and its host that of
node_uname_info, of its own or of another of the same address, else that in the instance. Results of an expression,
which have no name, are `statistic` `expression`, entity their labels.
"""

import json
from collections.abc import Iterator

from doctord._native import Batch
from doctord.errors import UserError
from doctord.read.format import Rank
from doctord.read.prometheus.answers import added_labels, hosts_in, scrapes_in
from doctord.read.prometheus.scrapes import Scrapes
from doctord.read.source import SourceFile

NAME = "Prometheus' HTTP API"
RANK = Rank.NAMED


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
        labels = [one["metric"] for one in result]
        told = list(scrapes_in(result, source, added_labels(labels)))
        hosts = hosts_in(labels)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UserError(
            f"{source.name}: not a whole answer of Prometheus' API: {error}", "save the whole answer of query_range"
        ) from error
    scrapes = Scrapes(source, hosts)
    yield from scrapes.take_all(told)
    yield from scrapes.rest()
