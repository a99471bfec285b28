"""AWR reports of Oracle in HTML: 10g to 23ai, of an instance or a cluster, of one period or two that are compared.

Tried with reports of 11.2, 12.1, 12.2 and 19c; one file may hold several, and may have been saved by a browser or a
mail program. It fills:

- `wait`: all events, foreground and background, with DB CPU and background CPU as `CPU`. Sum and mean are rounded in
  the report: each is worked out of the other where that is more exact. Before 11g waits of background processes are
  among all: they are taken off. Of a cluster events are told for all instances together (instance null); the top ones
  of each instance are `top_timed_events` in `statistic`.
- `latency`: histograms of wait events, counts worked out of percentages.
- `statement`: one row for each, from all sections that list it, its text without constants.
- `setting`: parameters at the end of the interval (`PDB:name` where a pluggable database has its own), and
  `report.NAME` for what the head says: version, role, platform.
- `event`: parameters that changed, a start within the interval; `not measured`: what a report that was cut lacks.
- `cpu` (from snapshot to snapshot where the report has that) and `memory` of the host.
- `statistic`, component oracle: [every other section](oracle-names.md), the unknown ones under their own titles.
  `reconcile.unaccounted` is database time less CPU and foreground waits.

The interval ends with the last snapshot, and is as long as the report's own rates imply. Of two periods each has its
own time. Moments have no zone: UTC is taken unless `--zone` tells another. Decimals may have a comma, months be in
another language. `<1` is taken as 0.5. Left out: shares and sums of what is there, plans, and sections of words: these
are named.
"""

import re
from collections.abc import Iterator, Sequence

from doctord._native import Batch, ReportTable, html_tables
from doctord.read.format import Rank
from doctord.read.oracle.awr import identity
from doctord.read.oracle.awr.known_sections import read_parts
from doctord.read.oracle.awr.mail import unmailed
from doctord.read.oracle.awr.whole import is_whole
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "AWR report (HTML)"
RANK = Rank.NAMED
BEGINS = regex(
    r"<title>AWR\s|WORKLOAD\s+REPOSITORY\s+(?:PDB\s+|RAC\s+)?(?:COMPARE\s+PERIOD\s+)?REPORT|AWR (?:RAC )?Report for DB",
    re.IGNORECASE,
)
SOFT_END = regex(r"=\r?\n")
MARKUP = regex(r"<html|<table|<h1|<title", re.IGNORECASE)


def sniff(head: str) -> bool:
    """Whether a file that begins so is such a report, perhaps as a mail program saved it."""
    plain = SOFT_END.sub("", head)
    return bool(MARKUP.search(plain) and BEGINS.search(re.sub(r"\s+", " ", plain)))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of all that the report holds: see docs/reference/oracle-names.md.

    Raises:
        UserError: the report does not say when it was.
    """
    content = unmailed(source.content())
    title, tables = html_tables(content)
    parts, whole = list(_parts(tables)), is_whole(content)
    return read_parts(((title, own, whole or own is not parts[-1]) for own in parts), source)


def _parts(tables: Sequence[ReportTable]) -> Iterator[list[ReportTable]]:
    """The tables of each report in a file; one file may hold several."""
    part = list[ReportTable]()
    for table in tables:
        if identity.begins(table) and any(identity.begins(held) for held in part):
            yield part
            part = []
        part.append(table)
    yield part
