"""Evidence and first steps from who holds the time: which statement, which segment and which process, by name."""

from typing import Final, Literal, TypeAlias

import polars as pl

from doctord.analyse.host.other_processes import Consumer, consumers
from doctord.analyse.host.processes import owners
from doctord.analyse.sql.top_time import Holder
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened

# What a holder may hold most of: an attribute of it, and how it is said.
Held: TypeAlias = Literal["share", "cpu_share", "gets_share", "reads_share"]
WORDS: Final[dict[Held, str]] = {
    "share": "{:share of database}",
    "cpu_share": "{:share} of the CPU time",
    "gets_share": "{:share} of the logical reads",
    "reads_share": "{:share} of the physical reads",
}
# Which reads of a segment belong to it: most CPU time goes to blocks that are looked at in memory.
LOOKED_AT: Final[dict[Held, Held]] = {
    "cpu_share": "gets_share", "gets_share": "gets_share", "reads_share": "reads_share"
}  # fmt: skip
MOST_NAMED = 3
MOST_PROCESSES = 4
MOST_OWNERS = 2
# A twentieth of what is short: less is not what to begin with.
WORTH_TUNING_SHARE = 0.05


def largest(case: Case, held: Held, kind: str = "statement", most: int = MOST_NAMED) -> list[Holder]:
    """Those of a kind that hold most of something, where it is worth tuning."""
    found = [one for one in case.top if one.kind == kind and (getattr(one, held) or 0.0) >= WORTH_TUNING_SHARE]
    return sorted(found, key=lambda one: -getattr(one, held))[:most]


def named(case: Case, held: Held, most: int = MOST_NAMED) -> list[Evidence]:
    """The statements that hold most of something, and the segment behind most of its reads."""
    looked_at = LOOKED_AT.get(held)
    segments = largest(case, looked_at, "segment", 1) if looked_at else []
    return [
        *(_evidence(one, held) for one in largest(case, held, most=most)),
        *(_evidence(one, looked_at or held) for one in segments),
    ]


def to_begin_with(case: Case, held: Held) -> list[Words]:
    """The first step of a remedy that begins with statements: which, and how much of it they hold."""
    found = largest(case, held, most=2)
    if not found:
        return []
    told = [phrase("{} ({}){}", one.name, _part(one, held), _text(one)) for one in found]
    return [phrase("First: statement{} {}.", "s" if len(found) > 1 else "", listed(*told, by="; "))]


def cpu_users(case: Case) -> list[Evidence]:
    """The processes that used the CPUs, by command and user: parts of the host where its CPUs are counted, else CPUs.

    Those that used less than a twentieth are named only where nobody used more. Sums by unit and by user follow, where
    there are several.
    """
    users, seconds = consumers(case.cpu_users, pl.col("cpu_s")), case.process_seconds
    capacity_s = seconds * case.cpus or sum(user.amount for user in users)
    most = [user for user in users if user.amount >= WORTH_TUNING_SHARE * capacity_s][:MOST_PROCESSES] or users[:1]
    outside = {(user.command, user.user) for user in consumers(case.other_cpu_users, pl.col("cpu_s"))}
    named = [_used(user, case, is_outside=(user.command, user.user) in outside) for user in most if seconds]
    return [*named, *_owned(case, "unit", capacity_s), *_owned(case, "user", capacity_s)]


def _owned(case: Case, by: Literal["unit", "user"], capacity_s: float) -> list[Evidence]:
    """The users, or units and containers, that used most of the CPUs, where there is more than one."""
    found = owners(case.processes, by)
    most = found.filter(pl.col("cpu_s") >= WORTH_TUNING_SHARE * capacity_s) if capacity_s else found.clear()
    told = most.head(MOST_OWNERS).to_dicts() if found.height > 1 else []
    return [
        Evidence("process", f"{by} = '{one['owner']}'",
                 phrase("{} {}: {:share} of {}, {:count process/processes}, {:bytes} resident", by, one["owner"],
                        one["cpu_s"] / capacity_s, "the host's CPU time" if case.cpus else "the CPU time used",
                        one["processes"], one["rss_bytes"]),
                 "", "all that it runs, together")
        for one in told
    ]  # fmt: skip


def _used(user: Consumer, case: Case, *, is_outside: bool) -> Evidence:
    cpus = user.amount / case.process_seconds
    used = phrase("{:share} of the host's CPU time", cpus / case.cpus) if case.cpus else phrase("{:.2g CPUs}", cpus)
    whose = ", and is no process of the database" if is_outside and case.vendors else ""
    return Evidence(*rows_of(user), phrase("{}: {}", user.name, used), "", f"uses the CPUs{whose}")


def rows_of(user: Consumer) -> tuple[str, str]:
    """Table and filter of the rows that tell what a consumer used."""
    if user.pid is None:
        return "statistic", f"name = 'short_lived.cpu_s_per_s' and entity = '{user.command}'"
    return "process", f"command = '{user.command}'"


def _part(holder: Holder, held: Held) -> Words:
    return phrase(WORDS[held], getattr(holder, held))


def _text(holder: Holder) -> Words:
    return phrase(": {}", shortened(holder.text, 80)) if holder.text else ""


def holder(one: Holder, held: Held) -> Evidence:
    """A user or a program, with its part of what it holds most of."""
    where = f"{one.kind} = '{one.name}'"
    return Evidence("session", where, phrase("{} {}: {}", one.kind, one.name, _part(one, held)), "", "of all sessions")


def _evidence(holder: Holder, held: Held) -> Evidence:
    order: list[Held] = [held, *(name for name in WORDS if name != held)]
    parts = [_part(holder, name) for name in order if getattr(holder, name) is not None]
    calls = "" if holder.calls_per_s is None else phrase("{:rate executions}", holder.calls_per_s)
    each = "" if holder.elapsed_ms is None else phrase("{:time} each", holder.elapsed_ms / 1000)
    table = "statement" if holder.kind == "statement" else "statistic"
    where = f"statement_id = '{holder.name}'" if holder.kind == "statement" else f"entity = '{holder.name}'"
    why = shortened(holder.text or "") if holder.kind == "statement" else "the segment that is looked at most"
    return Evidence(table, where, phrase("{}: {}", holder.name, listed(*parts, calls, each)), "", why)
