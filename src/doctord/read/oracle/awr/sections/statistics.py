"""What the instance counted: load profile, instance activity, efficiency."""

import re
from functools import cache

from doctord._native import ReportFigure, ReportTable
from doctord.read.oracle.awr.report import Report, place
from doctord.read.oracle.awr.section import (
    MIB,
    Meant,
    Named,
    NameOf,
    Redundant,
    Section,
    Special,
    Statistics,
    add_named,
    gauge,
    rate,
    total,
)
from doctord.regex import regex

BYTES = regex(r"\bbytes\b|^redo size|^redo wastage|^cell (IO|physical IO) .*bytes|memory", re.IGNORECASE)
# Lines of V$SYSSTAT that are no counters: their increases, which some reports print, mean nothing.
READINGS = {
    "logons current",
    "opened cursors current",
    "session cursor cache count",
    "session pga memory",
    "session pga memory max",
    "session uga memory",
    "session uga memory max",
    "workarea memory allocated",
}
PROFILE_UNIT = regex(r"\s*\((SQL|blocks|bytes|MB|s)\)$")

# What the load profile calls by other names than V$SYSSTAT and V$SYS_TIME_MODEL: full name, unit, factor.
PROFILE = {
    "db time": ("v$sys_time_model.DB time", "s_per_s", 1.0),
    "db cpu": ("v$sys_time_model.DB CPU", "s_per_s", 1.0),
    "cpu time": ("v$sys_time_model.DB CPU", "s_per_s", 1.0),
    "background cpu": ("v$sys_time_model.background cpu time", "s_per_s", 1.0),
    "redo size": ("v$sysstat.redo size", "bytes_per_s", 1.0),
    "logical read": ("v$sysstat.session logical reads", "per_s", 1.0),
    "logical reads": ("v$sysstat.session logical reads", "per_s", 1.0),
    "block changes": ("v$sysstat.db block changes", "per_s", 1.0),
    "physical read": ("v$sysstat.physical reads", "per_s", 1.0),
    "physical reads": ("v$sysstat.physical reads", "per_s", 1.0),
    "physical write": ("v$sysstat.physical writes", "per_s", 1.0),
    "physical writes": ("v$sysstat.physical writes", "per_s", 1.0),
    "read io requests": ("v$sysstat.physical read IO requests", "per_s", 1.0),
    "write io requests": ("v$sysstat.physical write IO requests", "per_s", 1.0),
    "read io": ("v$sysstat.physical read bytes", "bytes_per_s", MIB),
    "write io": ("v$sysstat.physical write bytes", "bytes_per_s", MIB),
    "user calls": ("v$sysstat.user calls", "per_s", 1.0),
    "parses": ("v$sysstat.parse count (total)", "per_s", 1.0),
    "hard parses": ("v$sysstat.parse count (hard)", "per_s", 1.0),
    "logons": ("v$sysstat.logons cumulative", "per_s", 1.0),
    "user logons": ("v$sysstat.user logons cumulative", "per_s", 1.0),
    "executes": ("v$sysstat.execute count", "per_s", 1.0),
    "rollbacks": ("v$sysstat.user rollbacks", "per_s", 1.0),
    "transactions": ("load_profile.transactions", "per_s", 1.0),
    "sql work area": ("load_profile.sql work area", "bytes_per_s", MIB),
    "sorts": ("load_profile.sorts", "per_s", 1.0),
}


def sysstat(name: str) -> Meant | None:
    """A line of V$SYSSTAT; what is a reading has no rate. Statspack has the thread's activity among them."""
    if name in READINGS:
        return None
    if name.endswith("(derived)"):
        return f"thread_activity.{name}", "per_s", 1.0
    return f"v$sysstat.{name}", "bytes_per_s" if BYTES.search(name) else "per_s", 1.0


def sysstat_reading(name: str) -> tuple[str, str, float]:
    """A line of V$SYSSTAT that is no counter."""
    return f"v$sysstat.{name}", "bytes" if BYTES.search(name) else "count", 1.0


def load_profile(name: str) -> Meant | None:
    """A line of the load profile. Work areas are left to their own section: the unit here differs between reports."""
    plain = PROFILE_UNIT.sub("", name).lower()
    if plain == "w/a mb processed":
        return None
    return PROFILE.get(plain, (f"load_profile.{plain}", "per_s", 1.0))


def under(view: str, unit: str) -> NameOf:
    """Names of a view, all in one unit."""

    def name_of(name: str) -> tuple[str, str, float]:
        return f"{view}.{name}", unit, 1.0

    return name_of


EFFICIENCY = under("instance_efficiency", "pct")


def efficiency(table: ReportTable, report: Report) -> bool:
    """Names and percentages by turns: `Buffer Nowait %: 100.00 Redo NoWait %: 100.00`."""
    placed = place(table, report)
    found = False
    for column in range(0, len(placed.table.names) - 1, 2):
        found |= add_named(report, placed, ReportFigure(column + 1), placed.table.texts(column), EFFICIENCY)
    return found


def io_profile(table: ReportTable, report: Report) -> bool:
    """Requests, bytes and blocks read and written, by their kind."""
    placed = place(table, report)
    found = False
    for names, what in (
        (("Read per Second", "Reads/s", "Read/s"), "read"),
        (("Write per Second", "Writes/s", "Write/s"), "write"),
    ):
        column = placed.table.find(*names)
        if column is not None:
            found |= add_named(report, placed, ReportFigure(column), placed.table.texts(0), _io_profile(what))
    return found


@cache
def _io_profile(what: str) -> NameOf:
    def name_of(name: str) -> Meant:
        if name.endswith("(MB)"):
            return f"io_profile.{name.removesuffix('(MB)').strip()} {what} bytes", "bytes_per_s", MIB
        return f"io_profile.{name} {what}", "per_s", 1.0

    return name_of


IO_PROFILE = tuple(
    (f"io_profile.NAME {what}", unit, "")
    for what, unit in (
        ("read", "per_s"),
        ("write", "per_s"),
        ("read bytes", "bytes_per_s"),
        ("write bytes", "bytes_per_s"),
    )
)
ACTIVITY = (total("", "Total", "Value"), rate("", "per Second", "per Second (Elapsed Time)"))

SECTIONS: tuple[Section, ...] = (
    Named(
        r"Thread Activity|Instance Activity Stats - Thread Activity",
        lambda name: (f"thread_activity.{name}", "per_s", 1.0),
        ("Statistic",),
        ACTIVITY,
    ),
    Named(
        r"Instance Activity Stats - Absolute Values|.*absolute values of instance",
        sysstat_reading,
        ("Statistic",),
        (gauge("", "End Value"),),
    ),
    Named(
        r"(Other |Key )?Instance Activity Stat|System Statistics \(Global\)",
        sysstat,
        ("Statistic", "Statistic Name"),
        ACTIVITY,
    ),
    Statistics(
        r"System Statistics$",
        "v$sysstat",
        (),
        (
            total("session logical reads", "Logical Reads"),
            total("physical reads", "Physical Reads"),
            total("physical writes", "Physical Writes"),
            total("redo size", "Redo Size (k)", unit="bytes_per_s", by=1024.0),
            total("db block changes", "Block Changes"),
            total("user calls", "User Calls"),
            total("execute count", "Execs"),
            total("parse count (total)", "Parses"),
            total("logons cumulative", "Logons"),
            total("transactions", "Txns"),
        ),
    ),
    Redundant(r"System Statistics - Per (Second|Transaction)|SysStat and Global Messaging \(per"),
    Statistics(
        r"System Statistics \(Absolute Values\)",
        "v$sysstat",
        (),
        (
            gauge("logons current", "Sessions End"),
            gauge("opened cursors current", "Open Cursors End"),
            gauge("session cursor cache count", "Session Cached Cursors End"),
        ),
    ),
    Named(r"Load Profile", load_profile, ("", "Statistic"), (rate("", "Per Second", "per sec"),)),
    Special(r"instance efficiency (percentages|indicators)", efficiency, (("instance_efficiency.NAME", "pct", ""),)),
    Special(r"IO Profile", io_profile, IO_PROFILE),
    Redundant(r"comparisons in different categories"),
)
