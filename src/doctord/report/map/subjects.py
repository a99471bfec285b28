"""What can be mapped: lists to be read on a terminal, and for JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from doctord.analyse.latency.map import Subject
from doctord.collect.core.database import LiveSubject
from doctord.report.lines import table

WIDTH = 80


def records(known: Sequence[Subject] | Sequence[LiveSubject]) -> list[dict[str, Any]]:
    """What `doctord map --list --json` gives."""
    return [asdict(subject) for subject in known]


def recorded(known: Sequence[Subject]) -> str:
    """Subjects of lakes and files as a table: waits, intervals, what is known of them, server, name."""
    rows = [
        (f"{subject.count:,.0f}", str(subject.columns), subject.kind, subject.db or "host", subject.name)
        for subject in known
    ]
    return _lines(("waits", "intervals", "known", "server", "subject"), rows)


def live(known: Sequence[LiveSubject]) -> str:
    """What can be timed on this host as a table: by what, server, name; and that system calls can be, too."""
    rows = [(subject.source, subject.db or "host", subject.name) for subject in known]
    listed = _lines(("timed by", "server", "subject"), rows)
    return f"{listed}\nand every system call: pread64, fdatasync...; of one process with --pid"


def _lines(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(line.plain.rstrip() for line in table(names, rows, WIDTH))
