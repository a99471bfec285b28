"""AWR reports of Oracle in HTML: 10g to 23ai, of an instance or a cluster, of one period or two that are compared."""

import re
from collections.abc import Iterator, Sequence

from doctord._native import Batch, ReportTable, html_tables
from doctord.read.oracle import identity
from doctord.read.oracle.mail import unmailed
from doctord.read.oracle.sections import read_parts
from doctord.read.source import Source

NAME = "AWR report (HTML)"
BEGINS = re.compile(
    r"<title>AWR\s|WORKLOAD\s+REPOSITORY\s+(?:PDB\s+|RAC\s+)?(?:COMPARE\s+PERIOD\s+)?REPORT|AWR (?:RAC )?Report for DB",
    re.IGNORECASE,
)
MARKUP = re.compile(r"<html|<table|<h1|<title", re.IGNORECASE)


def sniff(head: str) -> bool:
    """Whether a file that begins so is such a report, perhaps as a mail program saved it."""
    plain = head.replace("=\r\n", "").replace("=\n", "")
    return bool(MARKUP.search(plain) and BEGINS.search(re.sub(r"\s+", " ", plain)))


def read(source: Source) -> Iterator[Batch]:
    """Rows of all that the report holds: see docs/reference/oracle-names.md.

    Raises:
        Refusal: the report does not say when it was.
    """
    title, tables = html_tables(unmailed(source.content()))
    return read_parts(((title, own) for own in _parts(tables)), source)


def _parts(tables: Sequence[ReportTable]) -> Iterator[list[ReportTable]]:
    """The tables of each report in a file; one file may hold several."""
    part = list[ReportTable]()
    for table in tables:
        if identity.begins(table) and any(identity.begins(held) for held in part):
            yield part
            part = []
        part.append(table)
    yield part
