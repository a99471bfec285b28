"""Settings of PostgreSQL's planner that contradict the machine or each other."""

from collections.abc import Iterator
from typing import Final

from doctord.dataset.catalogue import catalogue
from doctord.diagnose.phrase import phrase
from doctord.lint.postgresql.figures import READS, as_setting, is_felt, is_solid, waited
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

OF_DISKS: Final = 4.0  # random_page_cost as it is for disks that turn
COMPARE: Final = "compare EXPLAIN (ANALYZE, BUFFERS) of the statements that take the time"


@rule("postgresql")
def effective_cache_size_impossible(subject: Subject) -> Iterator[Violation]:
    """The planner counts on a cache that cannot be.

    Why: with more than the memory it takes index scans for free that are not; with less than shared_buffers it shuns
        index scans that are.
    Evidence: effective_cache_size against memory and shared_buffers.
    Fix: shared_buffers with what the page cache holds: free and cached memory at a busy time.
    Verify: Plans of the statements that take the time.
    Source: PostgreSQL documentation, Planner Cost Constants, effective_cache_size.
    """
    size, memory, pool = (
        subject.number("effective_cache_size"),
        subject.machine.memory_bytes,
        subject.number("shared_buffers"),
    )
    if size is None:
        return
    if memory and size > memory:
        why, wanted = phrase("more than the memory, {:bytes}", memory), memory * 0.75
    elif pool and size < pool and (memory is None or pool < memory):
        why, wanted = phrase("less than shared_buffers, {:bytes}", pool), memory * 0.75 if memory else pool * 2
    else:
        return
    yield subject.violation(
        phrase("effective_cache_size = {:bytes} is {}", size, why),
        "effective_cache_size",
        "shared_buffers",
        cost=f"{CANNOT_JUDGE}: {COMPARE}",
        severity=Severity.NOTE,
        changes=[subject.change("effective_cache_size", as_setting(wanted), "reload")],
    )


@rule("postgresql")
def page_costs_reversed(subject: Subject) -> Iterator[Violation]:
    """A random page is priced below a sequential one.

    Why: the planner then reads whole tables through their indexes, page by page.
    Evidence: random_page_cost against seq_page_cost.
    Fix: random_page_cost at least seq_page_cost; where the device does not turn.
    Verify: Plans of the statements that read much.
    Source: PostgreSQL documentation, Planner Cost Constants: it makes no physical sense.
    """
    random, sequential = subject.number("random_page_cost"), subject.number("seq_page_cost")
    if random is not None and sequential is not None and random < sequential:
        yield subject.violation(
            phrase("random_page_cost = {:g} is below seq_page_cost = {:g}", random, sequential),
            "random_page_cost",
            "seq_page_cost",
            cost=f"{CANNOT_JUDGE}: {COMPARE}",
            severity=Severity.NOTE,
        )


@rule("postgresql")
def random_page_cost_of_disks(subject: Subject) -> Iterator[Violation]:
    """The planner is told of disks that turn, and there are none; reads take much of the time.

    Why: at four times the price of a sequential page it scans tables where an index would read less.
    Evidence: no block device of the host turns; time waited for reads.
    Fix: random_page_cost = 1.1, at first for a session that tries the statements.
    Verify: Plans and times of the statements that take the time; blocks read.
    Source: PostgreSQL documentation, Planner Cost Constants, random_page_cost.
    """
    cost, share = subject.number("random_page_cost"), waited(subject, *READS)
    if cost is not None and cost >= OF_DISKS and is_solid(subject) and share is not None and is_felt(subject, share):
        yield subject.violation(
            phrase("random_page_cost = {:g} on devices that do not turn", cost),
            "random_page_cost",
            cost=phrase("{}: {}; reads take {:share} of it", CANNOT_JUDGE, COMPARE, share),
            severity=Severity.NOTE,
            changes=[subject.change("random_page_cost", "1.1", "reload")],
        )


@rule("postgresql")
def plan_methods_forbidden(subject: Subject) -> Iterator[Violation]:
    """A way to run queries is forbidden for everybody.

    Why: an enable_* setting is for trying a plan out; left off for all, other statements lose their best plan.
    Evidence: the settings that are off while their default is on.
    Fix: Turn it on, and fix the statement that it was meant for (statistics, an index, pg_hint_plan).
    Verify: Plans of the statements that take the time.
    Source: PostgreSQL documentation, Planner Method Configuration.
    """
    off = [
        known.name
        for known in catalogue("postgresql").values()
        if known.name.startswith("enable_") and known.default == "on" and subject.flag(known.name) is False
    ]
    if off:
        yield subject.violation(
            f"{', '.join(off)} = off for everybody",
            *off,
            cost=f"{CANNOT_JUDGE}: {COMPARE}",
            severity=Severity.NOTE,
            changes=[subject.change(name, "on", "reload") for name in off],
        )


@rule("postgresql")
def generic_plans_forced(subject: Subject) -> Iterator[Violation]:
    """Prepared statements have one plan for all values, for everybody: plan_cache_mode = force_generic_plan.

    Why: without the values the planner counts with as many rows as a value has on average, which is wrong for most of
        them where values differ much; who tries the statement out with the values in it sees another plan.
    Evidence: the setting alone; which statements have parameters that differ so much only their plans show.
    Fix: auto: the server then plans for no value only where that seems no dearer. Leave it to roles or functions that
        gain by it (very many partitions, very large joins).
    Verify: EXPLAIN (ANALYZE, BUFFERS) EXECUTE of a prepared statement, with each of both values of the setting.
    Source: PostgreSQL documentation, Other Planner Options, plan_cache_mode; PREPARE, Notes.
    """
    if subject.text("plan_cache_mode") == "force_generic_plan":
        yield subject.violation(
            "plan_cache_mode = force_generic_plan for everybody",
            "plan_cache_mode",
            cost=f"{CANNOT_JUDGE}: {COMPARE}",
            severity=Severity.NOTE,
            changes=[subject.change("plan_cache_mode", "auto", "reload")],
        )
