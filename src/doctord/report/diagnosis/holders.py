"""Who holds the time, in words: one line for the head, and rows of a table."""

from collections.abc import Iterator

from doctord.analyse.sql.top_time import Holder
from doctord.diagnose.finding import Diagnosis
from doctord.report import wording
from doctord.units import in_time, number

NOT_MEASURED = "\u2013"
NAMES = ("time", "CPU", "gets", "reads", "calls/s", "each", "who")
# Beyond this length a text says no more of who it is.
TEXT = 90


def headline(diagnosis: Diagnosis) -> str:
    """What holds most of the database's time, and the statement, program or service with most of it; may be empty."""
    if diagnosis.time_of != "database" or not diagnosis.time:
        return ""
    part = diagnosis.time[0]
    what = "CPU" if part.wait_class == "CPU" else part.event
    by_kind = {one.kind: one for one in reversed(diagnosis.top) if one.share}
    named = [by_kind[kind] for kind in ("statement", "program", "service") if kind in by_kind][:2]
    by = ", ".join(f"{one.kind} {one.name} {wording.percent(one.share or 0.0)}" for one in named)
    return f"Most time: {what} {wording.percent(part.share)}{f'; {by}' if by else ''}"


def rows(diagnosis: Diagnosis) -> Iterator[tuple[str, ...]]:
    """A row for each holder, in the order of NAMES; a share that was not measured is a dash."""
    several = len({one.db for one in diagnosis.top}) > 1
    for one in diagnosis.top:
        shares = (one.share, one.cpu_share, one.gets_share, one.reads_share)
        told = [NOT_MEASURED if share is None else wording.percent(share) for share in shares]
        calls = NOT_MEASURED if one.calls_per_s is None else number(one.calls_per_s)
        each = NOT_MEASURED if one.elapsed_ms is None else in_time(one.elapsed_ms / 1000)
        yield (*told, calls, each, who(one, several=several))


def who(holder: Holder, *, several: bool) -> str:
    """Kind and name, the server where there are several, and the beginning of a statement's text."""
    text = " ".join((holder.text or "").split())
    short = f"{text[: TEXT - 3]}..." if len(text) > TEXT else text
    return f"{holder.kind} {holder.name}{f' of {holder.db}' if several else ''}{f': {short}' if short else ''}"
