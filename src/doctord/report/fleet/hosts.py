"""How hosts of a fleet are told: so many, by name, and those of which nothing can be told."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from rich.text import Text

from doctord.app.fleet.engine import Failed
from doctord.app.fleet.hosts import Host
from doctord.report import wording
from doctord.report.lines import hanging, heading
from doctord.report.plain import clean

SCHEMA_VERSION: Final = 1
# What fits on a screen; --json has all.
MOST_NAMED, MOST_TOLD = 6, 10


def counted(many: int) -> str:
    """So many hosts."""
    return "1 host" if many == 1 else f"{many:,} hosts"


def named(names: Sequence[str]) -> str:
    """Some hosts, the first of them by name."""
    more = len(names) - MOST_NAMED
    return wording.listed([*names[:MOST_NAMED], *([f"{more:,} more"] if more > 0 else [])])


def failures(failed: Iterable[tuple[Host, Failed]]) -> list[dict[str, Any]]:
    """Of a document: the hosts of which nothing can be told, and why."""
    return [
        {"host": host.name, "labels": dict(host.labels), "reason": one.reason, "hint": one.hint} for host, one in failed
    ]


def not_told(title: str, reasons: Sequence[tuple[str, str]], width: int) -> Iterator[Text]:
    """The hosts of which nothing can be told, each with the reason, below a title."""
    if not reasons:
        return
    yield from heading(title, width)
    for name, reason in reasons[:MOST_TOLD]:
        yield from hanging(f"{clean(name)}  ", clean(reason), width)
    yield from left_out(len(reasons) - MOST_TOLD, width)


def beside(noted: Iterable[tuple[str, Sequence[str]]], width: int) -> Iterator[Text]:
    """What of some hosts could not be read, so that what is told is of the rest."""
    some = [(name, f"{notes[0]}{f' (and {len(notes) - 1} more)' if len(notes) > 1 else ''}") for name, notes in noted]
    yield from not_told("Told beside the verdict", some, width)


def left_out(more: int, width: int) -> Iterator[Text]:
    """That there is more than was told."""
    if more > 0:
        yield from hanging("", f"and {more:,} more: --json has all", width)
