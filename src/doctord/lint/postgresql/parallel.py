"""Settings of PostgreSQL about parallel queries."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import phrase
from doctord.lint.postgresql.figures import counted, total
from doctord.lint.rule import rule
from doctord.lint.setting import Setting
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

FEW_LAUNCHED: Final = 0.8
WITHIN: Final = (
    ("max_parallel_workers_per_gather", "max_parallel_workers"),
    ("max_parallel_maintenance_workers", "max_parallel_workers"),
    ("max_parallel_workers", "max_worker_processes"),
    ("max_logical_replication_workers", "max_worker_processes"),
    ("max_sync_workers_per_subscription", "max_logical_replication_workers"),
)


@rule("postgresql", since=(10,))
def workers_unattainable(subject: Subject) -> Iterator[Violation]:
    """More workers are asked for than a wider setting allows.

    Why: the wider setting wins, and nothing says so.
    Evidence: both settings, where somebody set the narrower one.
    Fix: Raise the wider one (max_worker_processes needs a restart), or lower this.
    Verify: Workers launched against planned, in EXPLAIN (ANALYZE).
    Source: PostgreSQL documentation, Asynchronous Behavior.
    """
    for name, wider in WITHIN:
        wanted, allowed, setting = subject.number(name), subject.number(wider), subject.get(name)
        if wanted is not None and allowed is not None and wanted > allowed and setting and setting.is_set:
            yield subject.violation(
                phrase("{} = {:.0f} is above {} = {:.0f}", name, wanted, wider, allowed),
                name,
                wider,
                cost=phrase("{:.0f} workers that are asked for never start", wanted - allowed),
                severity=Severity.WARNING,
            )


@rule("postgresql", since=(9, 6))
def query_takes_all_cpus(subject: Subject) -> Iterator[Violation]:
    """One query starts more workers than twice the CPUs.

    Why: they queue for the CPUs and each may take work_mem; other sessions wait behind them.
    Evidence: max_parallel_workers_per_gather with the leader against the CPUs.
    Fix: At most as many as CPUs, less where many queries run at once.
    Verify: Time in the run queue while such a query runs.
    Source: PostgreSQL documentation, How Parallel Query Works; max_parallel_workers_per_gather.
    """
    wanted, cpus = subject.number("max_parallel_workers_per_gather"), subject.machine.cpus
    limits = [subject.number(name) for name in ("max_parallel_workers", "max_worker_processes")]
    if wanted is None or not cpus:
        return
    started = min([wanted, *(limit for limit in limits if limit is not None)]) + 1
    if started > 2 * cpus and _is_set(subject.get("max_parallel_workers_per_gather")):
        yield subject.violation(
            phrase("max_parallel_workers_per_gather = {:.0f} on {} CPUs", wanted, cpus),
            "max_parallel_workers_per_gather",
            cost=phrase(
                "one query runs {:.0f} processes on {} CPUs: {:.1f} for each, and each may take work_mem",
                started,
                cpus,
                started / cpus,
            ),
            severity=Severity.WARNING,
            changes=[subject.change("max_parallel_workers_per_gather", f"{cpus}", "reload")],
        )


@rule("postgresql", since=(18,))
def parallel_workers_missing(subject: Subject) -> Iterator[Violation]:
    """Queries that were planned for several workers get fewer.

    Why: the plan is made for all of them; with fewer it takes longer than another plan would.
    Evidence: workers launched against those that plans asked for.
    Fix: Raise max_parallel_workers (and max_worker_processes) where CPUs are idle; else lower
        max_parallel_workers_per_gather.
    Verify: pg_stat_database.parallel_workers_launched against parallel_workers_to_launch.
    Source: PostgreSQL 18 documentation, pg_stat_database.
    """
    planned, launched = (
        total(subject, f"pg_stat_database.parallel_workers_{what}") for what in ("to_launch", "launched")
    )
    if not planned or launched is None or launched >= FEW_LAUNCHED * planned:
        return
    yield subject.violation(
        phrase("{:share} of the parallel workers that plans ask for are started", launched / planned),
        "max_parallel_workers",
        "max_worker_processes",
        "max_parallel_workers_per_gather",
        cost=phrase(
            "{}: the time of these queries; {:.1f} workers a second are missing", CANNOT_JUDGE, planned - launched
        ),
        severity=Severity.NOTE,
        evidence=[
            counted(
                "pg_stat_database.parallel_workers_launched",
                phrase("{:.1f per s}", launched),
                phrase("{:.1f per s}", planned),
            )
        ],
    )


@rule("postgresql")
def shared_memory_in_files(subject: Subject) -> Iterator[Violation]:
    """What parallel workers share lies in files of the data directory.

    Why: the kernel writes these pages to disk again and again, though nobody needs them after the query.
    Evidence: dynamic_shared_memory_type = mmap.
    Fix: dynamic_shared_memory_type = posix.
    Verify: Bytes written to the device while a parallel query runs.
    Source: PostgreSQL documentation, Memory, dynamic_shared_memory_type: mmap is not recommended.
    """
    if subject.text("dynamic_shared_memory_type") == "mmap":
        yield subject.violation(
            "dynamic_shared_memory_type = mmap: parallel queries share memory through files",
            "dynamic_shared_memory_type",
            cost=f"{CANNOT_JUDGE}: bytes written while parallel queries run",
            severity=Severity.NOTE,
            changes=[subject.change("dynamic_shared_memory_type", "posix", "restart")],
        )


def _is_set(setting: Setting | None) -> bool:
    return setting is not None and setting.is_set
