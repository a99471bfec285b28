"""Processes that signal 9 ended: who may have sent it, by what can be ruled out, and whose sessions they were."""

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.regex import regex

KILLED: Final = "signal 9:"
# How the kernel tells that it killed for memory: events, and the count of all of them since the boot.
OOM_EVENTS: Final = ("oom kill", "oom kill in control group")
OOM_COUNT: Final = "vmstat.oom_kill"
# Programs that end processes before the kernel does, as memory gets short.
OOM_DAEMONS: Final = r"^(systemd-oomd|earlyoom|nohang|oomd)"
# With a tenth of the memory free, nobody has to be ended for want of it.
ENOUGH_FREE: Final = 0.1
# What the collector tells of the session that a process was.
_SESSION: Final = regex(r"; it was (?P<who>.+), (?P<state>idle|active) for (?P<seconds>\d+) s")
MOST_NAMED: Final = 3


class Killed(NamedTuple):
    """What is said behind the title of who sent it, what rules the others out, and what speaks against somebody."""

    said: Words
    evidence: list[Evidence]
    against: list[Evidence]


def killed(case: Case, db: str, processes: pl.DataFrame) -> Killed:
    """Who may have ended a server's processes, of which events tell; nothing where none was ended by signal 9."""
    texts = [text for text in processes["text"].drop_nulls() if KILLED in f"{text}:"]
    if not texts or _differ(texts, processes):
        return Killed("", [], [])
    memory, limit = _of_memory(case), _cpu_limit(case, db)
    sessions = [*_sessions(texts)]
    if memory is None or limit:
        return Killed("", [*sessions, *limit], [])
    return Killed(", by somebody's kill -9", [*memory, *sessions], _daemons(case))


def _differ(texts: list[str], processes: pl.DataFrame) -> bool:
    """Whether others of them ended otherwise: then one reason for all is not to be named."""
    return len(texts) < processes.height


def _of_memory(case: Case) -> list[Evidence] | None:
    """That the kernel killed nothing for want of memory; null where it did, or where that is not known."""
    events = case.dataset.frame("event")
    if not events.filter(pl.col("kind").is_in(OOM_EVENTS)).is_empty() or not case.figures(OOM_COUNT):
        return None
    if case.amount(OOM_COUNT) >= 1:
        return None
    free = _free(case)
    return [
        Evidence("statistic", f"name = '{OOM_COUNT}'", phrase("{:.0f} kills for want of memory", 0.0), "",
                 "the kernel counts all of them, on the host and in control groups"),
        *([] if free is None else [
            Evidence("memory", "available_bytes is not null", phrase("{:share} of the memory was available", free),
                     phrase("{:share}", ENOUGH_FREE), "nobody had to be ended for want of it", "at_least")]),
    ]  # fmt: skip


def _free(case: Case) -> float | None:
    """The part of the memory that was available; null where that is too little to rule something out."""
    available, total = case.mean("memory", "available_bytes"), case.mean("memory", "total_bytes")
    share = available / total if available is not None and total else None
    return share if share is not None and share >= ENOUGH_FREE else None


def _cpu_limit(case: Case, db: str) -> list[Evidence]:
    """That a process is ended by signal 9 after so much time on a CPU."""
    return [
        Evidence("statistic", f"name = 'limits.cpu_s' and db = '{db}'",
                 phrase("{:.0f s} of CPU time for each process", one.last), "", "at this limit (ulimit -t) the kernel "
                 "sends signal 24, and at the hard one signal 9")
        for one in case.figures("limits.cpu_s") if one.db == db
    ]  # fmt: skip


def _daemons(case: Case) -> list[Evidence]:
    """That a program runs here which ends processes as memory gets short."""
    commands = pl.Series(case.dataset.values("process", "command"), dtype=pl.String)
    return [
        Evidence("process", f"command = '{command}'", phrase("{} runs", command), "",
                 "it ends processes by signal 9 too, as memory gets short: see its log")
        for command in commands.filter(commands.str.contains(OOM_DAEMONS)).to_list()[:MOST_NAMED]
    ]  # fmt: skip


def _sessions(texts: list[str]) -> Iterator[Evidence]:
    """Whose sessions the processes were, as far as they had been looked at before."""
    found = [match for text in texts if (match := _SESSION.search(text))]
    ranked = Counter((match["who"], match["state"]) for match in found)
    for (who, state), count in ranked.most_common(MOST_NAMED):
        ages_s = [float(match["seconds"]) for match in found if (match["who"], match["state"]) == (who, state)]
        yield Evidence("event", "kind = 'process crashed'",
                       phrase("{} of {}: {}", count, len(texts), who), "",
                       phrase("{} for {:duration} and longer when last looked at", state, min(ages_s)))  # fmt: skip
