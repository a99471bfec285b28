"""Whether a report is whole: what one that was cut lacks is said, as nobody should take its silence for health."""

import re
from collections.abc import Callable
from typing import Final

from doctord.read.oracle.awr.report import Report
from doctord.regex import regex

END: Final = regex(rb"\bEnd\s+of\s+Report\b", re.IGNORECASE)  # the last line, in all versions and languages
PAGE_ENDS: Final = regex(rb"</html>\s*$", re.IGNORECASE)
PAGE_END_BYTES: Final = 200
ASK: Final = "the whole report: its last line is `End of Report`"
MODEL_IN_HEAD: Final = {"v$sys_time_model.DB time", "v$sys_time_model.DB CPU"}

FIRST_WITH_MODEL: Final = 10
SINCE_10G: Final = ("time model", "operating system statistics")


def is_whole(content: bytes) -> bool:
    """Whether a report has its last line; one that compares two periods has none, but ends as a page does."""
    return END.search(content) is not None or PAGE_ENDS.search(content[-PAGE_END_BYTES:]) is not None


def tell_of_cut(report: Report) -> None:
    """Say which sections a report that was cut lacks: an event of kind `not measured`, and a note."""
    old = _release(report) < FIRST_WITH_MODEL
    lacking = [part for part, has in PARTS.items() if not (has(report) or (old and part in SINCE_10G))]
    what = ", ".join(lacking) or "what stands at its end"
    report.source.note(f"it is cut: its end is not there, and so not {what}")
    row = {"kind": "not measured", "subject": what, "text": "the report is cut before its end", "hint": ASK}
    report.filled.add("event", 1, report.whole.row() | row)


def _release(report: Report) -> int:
    settings = zip(report.filled.column("setting", "name"), report.filled.column("setting", "value"), strict=True)
    release = dict(settings).get("report.version") or ""
    number = release.partition(".")[0]
    return int(number) if number.isdecimal() else FIRST_WITH_MODEL


def _waits(report: Report) -> bool:
    return any(event != "CPU" for event in report.filled.column("wait", "event"))


def _statistics(*beginnings: str) -> Callable[[Report], bool]:
    def has(report: Report) -> bool:
        names = set(report.filled.column("statistic", "name")) - MODEL_IN_HEAD
        return any(name.startswith(beginnings) for name in names)

    return has


def _parameters(report: Report) -> bool:
    return any(not name.startswith("report.") for name in report.filled.column("setting", "name"))


# What a verdict needs of a report, in the order in which it stands there.
PARTS: Final[dict[str, Callable[[Report], bool]]] = {
    "wait events": _waits,
    "time model": _statistics("v$sys_time_model."),
    "operating system statistics": _statistics("v$osstat."),
    "statements": lambda report: bool(report.filled.column("statement", "statement_id")),
    "I/O of tablespaces and files": _statistics("tablespace_io.", "file_io."),
    "parameters": _parameters,
}
