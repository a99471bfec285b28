"""What AWR reports in text and Statspack reports have in common: where each begins, and names that were cut off."""

from collections.abc import Iterator

from doctord._native import Batch, LongNames, text_tables
from doctord.read.oracle.awr import long_names
from doctord.read.oracle.awr.known_sections import read_parts
from doctord.read.oracle.awr.whole import is_whole
from doctord.read.oracle.wait_classes import CLASS_OF
from doctord.read.source import SourceFile
from doctord.regex import regex

# Two of them: a pattern that begins with letters is looked for quickly.
BEGINS = (
    regex(rb"WORKLOAD REPOSITORY [^\n]*\b(?:[Rr]eport|REPORT|statistics)\b"),
    regex(rb"STATSPACK (?:[Rr]eport|REPORT|statistics)\b"),
)
DATABASE = regex(
    rb"DB/Inst: *(?P<db>[\w$#]+)/(?P<instance>[\w$#]+)|for DB: *(?P<old>[\w$#]+) +Instance: *(?P<own>[\w$#]+)"
)
KNOWN = LongNames(
    [
        *CLASS_OF,
        *long_names.EVENTS,
        *long_names.LATCHES,
        *long_names.STATISTICS,
        *long_names.FUNCTIONS,
        *long_names.COMPONENTS,
        *long_names.WAIT_CLASSES,
    ]
)


def read_text(source: SourceFile) -> Iterator[Batch]:
    """Rows of all reports in a text. What stands before the first was typed to get it.

    Raises:
        UserError: no report says when it was.
    """
    content = source.content()
    begins = sorted(found.start() for pattern in BEGINS for found in pattern.finditer(content))
    parts = (content[begin:end] for begin, end in zip(begins, [*begins[1:], len(content)], strict=True))
    return read_parts(((title(part), text_tables(part, KNOWN), is_whole(part)) for part in parts), source)


def title(part: bytes) -> str:
    """Database and instance as the titles of sections name them."""
    found = DATABASE.search(part)
    if found is None:
        return ""
    database, instance = found["db"] or found["old"], found["instance"] or found["own"]
    return f"DB: {database.decode()}, Inst: {instance.decode()}"
