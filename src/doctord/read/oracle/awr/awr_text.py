"""AWR reports in plain text, 10g to 23ai, of one instance or a cluster, of one period or two that are compared.

They are read as those in HTML are, into the same tables under the same names. Text rounds more, and cuts off names
where a column ends: those that are known are made whole. Of the histograms' numbers of waits it cuts off the thousands:
these are taken from the wait events.
"""

import re
from collections.abc import Iterator

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.oracle.awr.text_report import read_text
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "AWR report (text)"
RANK = Rank.NAMED
BEGINS = regex(r"WORKLOAD REPOSITORY [^\n]*\b(?:[Rr]eport|REPORT)\b")


def sniff(head: str) -> bool:
    """Whether a file that begins so is such a report, perhaps after what was typed to get it."""
    return bool(BEGINS.search(head)) and re.search(r"^[ -]*----", head, re.MULTILINE) is not None and "<t" not in head


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of all sections.

    Raises:
        UserError: the report does not say when it was.
    """
    return read_text(source)
