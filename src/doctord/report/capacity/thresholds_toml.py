"""Proposed thresholds as a TOML file, to be read, changed and kept: what each rests on stands beside it."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from json import dumps

from doctord.analyse.capacity.thresholds.propose import Proposal
from doctord.analyse.capacity.thresholds.threshold import Threshold

_HEAD = """\
# Thresholds proposed by `doctord thresholds init` from {since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M} UTC,
# a time that was declared good. Limits are in the figure's unit; by_hour has a row for each day, Monday first, of a
# limit for each hour in UTC. Read them, change them, and write a plan to each: who does what, and how long it takes.
"""


def render(proposals: Sequence[Proposal], since: datetime, until: datetime) -> str:
    """The file: a table for each proposal, and a comment for each series that none follows from."""
    made = [proposal.threshold for proposal in proposals if proposal.threshold]
    left = [proposal for proposal in proposals if not proposal.threshold]
    parts = [_HEAD.format(since=since, until=until), *map(_table, made)]
    if left:
        parts.append("# No limit follows for:\n" + "".join(f"# {_plain(one.series.name)}: {one.why}\n" for one in left))
    return "\n".join(parts)


def brief(proposals: Sequence[Proposal]) -> str:
    """How many thresholds follow from how many series."""
    made = sum(one.threshold is not None for one in proposals)
    return f"{made} thresholds of {len(proposals)} series"


def _table(threshold: Threshold) -> str:
    return "\n".join(_lines(threshold)) + "\n"


def _lines(threshold: Threshold) -> Iterator[str]:
    yield f"# {_plain(threshold.reason)}"
    yield "[[threshold]]"
    for key in ("name", "figure", "host", "db", "entity"):
        if text := getattr(threshold, key):
            yield f"{key} = {_text(text)}"
    yield f"limit = {threshold.limit!r}"
    yield f"worse = {_text(threshold.worse)}"
    yield f"hold = {_text(_hold(threshold.hold_s))}"
    if threshold.by_hour:
        yield from ("by_hour = [", *_days(threshold.by_hour), "]")
    yield f"reason = {_text(threshold.reason)}"
    yield f"source = {_text(threshold.source)}"
    yield '# plan = { text = "what to do", owner = "who", lead = "14d" }'


def _hold(seconds: float) -> str:
    return f"{seconds / 3600:g}h" if seconds % 3600 == 0 else f"{seconds:g}s"


def _days(limits: Sequence[float]) -> Iterable[str]:
    return (f"  [{', '.join(map(repr, limits[day : day + 24]))}]," for day in range(0, len(limits), 24))


def _text(text: str) -> str:
    """A basic string of TOML: JSON's escapes are its own, but for DEL, which neither needs to keep."""
    return dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _plain(text: str) -> str:
    return "".join(character for character in text if character.isprintable())
