"""Units of systemd that start databases: limits that fit, and time to stop."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import phrase
from doctord.lint.kernel.databases import memory_of
from doctord.lint.rule import rule
from doctord.lint.setting import Setting
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation
from doctord.units import seconds_of

UNITS: Final = {"postgresql": ("postgres",), "mysql": ("mysql", "mariadb"), "oracle": ("oracle", "dbora")}
LEAST_STOP_S: Final = 60.0


@rule("systemd")
def memory_limit_below_database(subject: Subject) -> Iterator[Violation]:
    """A unit may use less memory than its database takes.

    Why: the group's OOM killer ends it when the buffer cache has filled.
    Evidence: MemoryMax against shared_buffers, the SGA or the buffer pool.
    Fix: MemoryMax with room for sessions above that, or none.
    Verify: memory.events (oom_kill) of the unit's group.
    Source: systemd.resource-control(5), MemoryMax.
    """
    for setting in _keys(subject, "MemoryMax", "MemoryLimit", "MemoryHigh"):
        for server in _servers(subject, setting):
            needed = memory_of(server)
            if needed and setting.number is not None and setting.number < needed:
                yield subject.violation(
                    phrase("{} = {} for {:bytes} of {}", setting.name, setting.value, needed, server.name),
                    settings=[setting],
                    cost=phrase(
                        "{:bytes} too little before any session works: the OOM killer", needed - setting.number
                    ),
                    severity=Severity.ERROR,
                )


@rule("systemd")
def locked_memory_below_database(subject: Subject) -> Iterator[Violation]:
    """A unit may lock less memory than its database wants in huge pages.

    Why: a service does not read limits.conf: LimitMEMLOCK counts.
    Evidence: LimitMEMLOCK against shared_buffers or the SGA, where the host has huge pages.
    Fix: LimitMEMLOCK=infinity.
    Verify: Max locked memory in /proc/PID/limits; HugePages_Free falls when it starts.
    Source: systemd.exec(5), LimitMEMLOCK; PostgreSQL documentation, 19.4.5 Linux Huge Pages.
    """
    pages = subject.machine.memory("huge_pages_total")
    for setting in _keys(subject, "LimitMEMLOCK") if pages else ():
        for server in _servers(subject, setting):
            needed = memory_of(server)
            if needed and setting.number is not None and setting.number < needed:
                yield subject.violation(
                    phrase("{} = {} for {:bytes} of {}", setting.name, setting.value, needed, server.name),
                    settings=[setting],
                    cost=phrase("no huge page for it, although {:.0f} are set aside", pages),
                    severity=Severity.WARNING,
                )


@rule("systemd")
def stopped_too_soon(subject: Subject) -> Iterator[Violation]:
    """A database is killed when it has not stopped within seconds.

    Why: the last checkpoint may take longer; what is killed has to recover, and nobody can connect meanwhile.
    Evidence: TimeoutStopSec, TimeoutSec.
    Fix: TimeoutStopSec=infinity, or some minutes.
    Verify: No "State 'stop-sigterm' timed out. Killing." in the journal.
    Source: systemd.service(5), TimeoutStopSec; PostgreSQL documentation, 19.5 Shutting Down the Server.
    """
    for setting in _keys(subject, "TimeoutStopSec", "TimeoutSec"):
        seconds = seconds_of(setting.value)
        if _is_database(setting) and seconds and seconds < LEAST_STOP_S:
            yield subject.violation(
                phrase("{} = {}: killed after {:.0f} s", setting.name, setting.value, seconds),
                settings=[setting],
                cost=phrase("a crash recovery at each restart whose last checkpoint takes more than {:.0f} s", seconds),
                severity=Severity.WARNING,
            )


@rule("systemd")
def database_is_nice(subject: Subject) -> Iterator[Violation]:
    """A database is started with less right to CPU or disk than everybody else.

    Why: whatever runs beside it goes first.
    Evidence: Nice above 0, CPUSchedulingPolicy=idle or batch, IOSchedulingClass=idle.
    Fix: Take it out.
    Verify: Run queue wait of the database's processes at peak.
    Source: systemd.exec(5).
    """
    for setting in _keys(subject, "Nice", "CPUSchedulingPolicy", "IOSchedulingClass"):
        is_low = (
            (setting.number or 0) > 0 if setting.name.endswith(".Nice") else setting.value in ("idle", "batch", "3")
        )
        if _is_database(setting) and is_low:
            yield subject.violation(
                f"{setting.name} = {setting.value}",
                settings=[setting],
                cost="it waits for CPU or disk whenever anything else wants them",
                severity=Severity.WARNING,
            )


@rule("systemd")
def cpu_quota_set(subject: Subject) -> Iterator[Violation]:
    """A database may use only part of the CPUs, and is stopped for the rest of each tenth of a second.

    Why: a burst uses its quota up in some ms, and every session stands still until the period ends.
    Evidence: CPUQuota; throttled time of the group, where measured.
    Fix: CPUWeight instead, or a quota above the busiest second.
    Verify: nr_throttled in cpu.stat of the group.
    Source: systemd.resource-control(5); Linux, Documentation/scheduler/sched-bwc.rst.
    """
    for setting in _keys(subject, "CPUQuota"):
        share = setting.value.rstrip("% ")
        if _is_database(setting) and share.replace(".", "", 1).isdigit():
            cpus = float(share) / 100
            throttled = subject.case.total("cpu.throttled_s_per_s")
            yield subject.violation(
                phrase("{} = {}: {:g} CPUs", setting.name, setting.value, cpus),
                settings=[setting],
                cost="cannot judge without measurements: nr_throttled in cpu.stat"
                if throttled is None
                else phrase("{:.2f} s a second stopped", throttled),
                severity=Severity.WARNING if throttled else None,
            )


@rule("systemd")
def oom_killer_comes_first(subject: Subject) -> Iterator[Violation]:
    """The OOM killer takes the database before others.

    Why: it is the largest anyway; a positive adjustment makes it the first.
    Evidence: OOMScoreAdjust above 0.
    Fix: OOMScoreAdjust=-900, and for PostgreSQL PG_OOM_ADJUST_VALUE=0 for its children.
    Verify: /proc/PID/oom_score_adj.
    Source: PostgreSQL documentation, 19.4.4 Linux Memory Overcommit; systemd.exec(5).
    """
    for setting in _keys(subject, "OOMScoreAdjust"):
        if _is_database(setting) and (setting.number or 0) > 0:
            yield subject.violation(
                f"{setting.name} = {setting.value}",
                settings=[setting],
                cost="availability: when memory runs out the database ends first",
                severity=Severity.WARNING,
            )


def _keys(subject: Subject, *names: str) -> list[Setting]:
    """The settings of these names, of all units: the last of each counts."""
    last = {one.name: one for one in subject.rows if one.name.rpartition(".")[2] in names}
    return list(last.values())


def _is_database(setting: Setting) -> bool:
    return any(setting.name.startswith(name) for names in UNITS.values() for name in names)


def _servers(subject: Subject, setting: Setting) -> list[Subject]:
    """The servers that a unit starts, by its name."""
    return [one for one in subject.others if setting.name.startswith(UNITS.get(one.component, ("\0",)))]
