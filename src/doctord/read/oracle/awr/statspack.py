"""Statspack reports, 8i to 19c.

They are read section by section as AWR reports are, into the same tables under the same names. What differs: reports
before 10g have no time model: CPU time is `CPU used by this session` there, and database time is not known; before 11g
waits of background processes are listed among all waits as well, and taken off them; no wait class is printed: it is
looked up; a statement is known by its hash value. Columns cut off names: those that are known are made whole.
"""

from collections.abc import Iterator

from doctord._native import Batch
from doctord.read.format import Rank
from doctord.read.oracle.awr.text_report import read_text
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "Statspack report"
RANK = Rank.NAMED
BEGINS = regex(r"STATSPACK (?:[Rr]eport|statistics)\b")


def sniff(head: str) -> bool:
    """Whether a file that begins so is such a report, perhaps after what was typed to get it."""
    return bool(BEGINS.search(head)) and "~~~" in head


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of all sections.

    Raises:
        UserError: the report does not say when it was.
    """
    return read_text(source)
