"""Control groups of databases: what their limits leave them."""

from collections.abc import Iterator

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.lint.kernel.databases import databases, memory_of
from doctord.lint.kernel.units import UNITS
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

THROTTLED = 0.01  # of each second


@rule("kernel")
def cgroup_memory_below_database(subject: Subject) -> Iterator[Violation]:
    """A control group may use less memory than the database in it takes.

    Why: when the buffer cache has filled, the group's OOM killer ends a process of the database.
    Evidence: the group's limit against shared_buffers, the SGA or the buffer pool.
    Fix: A limit with room for sessions above that (memory.max; a container's or a unit's memory limit).
    Verify: memory.events of the group: oom_kill stands still.
    Source: Linux, Documentation/admin-guide/cgroup-v2.rst, Memory.
    """
    for group, limit in _limits(subject, "memory.limit_bytes"):
        for server in databases(subject):
            needed = memory_of(server)
            if needed and _holds(group, server) and limit < needed:
                yield subject.violation(
                    phrase("{} may use {:bytes}, and {} takes {:bytes}", group, limit, server.name, needed),
                    cost=phrase("{:bytes} too little before any session works: the OOM killer", needed - limit),
                    severity=Severity.ERROR,
                    evidence=[
                        _evidence(
                            "memory.limit_bytes", phrase("{:bytes}", limit), phrase("{:bytes}", needed), "too little"
                        )
                    ],
                )


@rule("kernel")
def cgroup_cpus_used_up(subject: Subject) -> Iterator[Violation]:
    """A control group's share of the CPUs is used up, and its database is stopped for the rest of each period.

    Why: every session of it stands still until the period ends, those that hold locks among them.
    Evidence: the limit, and the time for which the group was throttled.
    Fix: A larger limit (cpu.max), or a weight in place of it.
    Verify: nr_throttled in cpu.stat of the group.
    Source: Linux, Documentation/scheduler/sched-bwc.rst.
    """
    stopped = dict(_limits(subject, "cpu.throttled_s_per_s"))
    for group, cpus in _limits(subject, "cpu.limit_cpus"):
        lost = stopped.get(group)
        if lost is not None and lost >= THROTTLED and any(_holds(group, server) for server in databases(subject)):
            yield subject.violation(
                phrase("{} may use {:g} CPUs, and uses them up", group, cpus),
                cost=phrase("stopped for {:.2f} s of each second, all its processes together", lost),
                severity=Severity.WARNING,
                evidence=[
                    _evidence(
                        "cpu.throttled_s_per_s", phrase("{:.2f s/s}", lost), phrase("{:share}", THROTTLED), "throttled"
                    )
                ],
            )


def _limits(subject: Subject, name: str) -> list[tuple[str, float]]:
    """A figure of each control group, by the group's path."""
    return [(figure.entity, figure.mean) for figure in subject.case.figures(name) if figure.entity]


def _holds(group: str, server: Subject) -> bool:
    """Whether a group is that of a server, by its name."""
    return any(name in group for name in UNITS.get(server.component, ()))


def _evidence(name: str, figure: Words, limit: Words, why: Words) -> Evidence:
    return Evidence("statistic", f"name = '{name}'", figure, limit, why)
