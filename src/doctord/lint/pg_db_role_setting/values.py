"""Values of a role's or database's settings that slow its statements down, end them, or lose what it commits."""

from collections.abc import Iterator
from typing import Final

from doctord.dataset.catalogue import catalogue
from doctord.dataset.role_settings import COMPONENT, Scope, scope_of
from doctord.diagnose.phrase import phrase
from doctord.lint.rule import rule
from doctord.lint.setting import Setting
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

# A quarter of the default, 16 times the least that the server takes: nobody means less.
TINY_BYTES: Final = 1 << 20
# Seconds below which a limit ends what is not slow at all: a bare number counts milliseconds.
SHORT_S: Final = {
    "statement_timeout": 0.1,
    "lock_timeout": 0.01,
    "idle_in_transaction_session_timeout": 0.1,
    "transaction_timeout": 0.1,
}
BLIND: Final = ("ignore_checksum_failure", "zero_damaged_pages")
COMPARE: Final = "EXPLAIN (ANALYZE, BUFFERS, SETTINGS) as that role, and once more after RESET"


@rule(COMPONENT)
def role_work_mem_tiny(subject: Subject) -> Iterator[Violation]:
    """A role or database has less than 1 MB of work_mem.

    Why: a number without a unit is in kB: work_mem = 64 is 64 kB, the least that there is. Sorts and hash tables go to
        files, and a subquery whose hash table no longer fits is run again for each row.
    Evidence: the setting, and what the server has for all others.
    Fix: ALTER ROLE ... SET work_mem = '64MB', with its unit, or RESET work_mem; sessions keep the old value until they
        connect anew.
    Verify: SHOW work_mem in a new session of the role; EXPLAIN (ANALYZE, SETTINGS) there.
    Source: PostgreSQL documentation, Memory, work_mem; "Parameter Names and Values"; ALTER ROLE.
    """
    for held, scope in _named(subject, "work_mem"):
        size = held.number
        if size is not None and size < TINY_BYTES:
            server = _of_server(subject, "work_mem")
            yield subject.violation(
                phrase("work_mem = {:bytes} for {}", size, scope.whose),
                settings=[held],
                cost=phrase("what it sorts or hashes beyond {:bytes} goes to files, or is looked up row by row; others "
                            "have {:bytes}", size, server)
                if server is not None
                else phrase("what it sorts or hashes beyond {:bytes} goes to files, or is looked up row by row", size),
                severity=Severity.WARNING,
            )  # fmt: skip


@rule(COMPONENT)
def role_plan_methods_forbidden(subject: Subject) -> Iterator[Violation]:
    """A way to run queries is forbidden for a role or database, or prepared statements have one plan for all values.

    Why: enable_* and plan_cache_mode are for trying a plan out; what is left of that makes other plans than those that
        a superuser sees who looks at the same statement.
    Evidence: enable_* that are off while their default is on; plan_cache_mode = force_generic_plan.
    Fix: ALTER ROLE ... RESET it, and fix the statement that it was meant for (statistics, an index, pg_hint_plan), or
        set it for that one transaction (SET LOCAL).
    Verify: Plans and times of the role's statements in new sessions of that role.
    Source: PostgreSQL documentation, Planner Method Configuration, plan_cache_mode; ALTER ROLE.
    """
    known = catalogue("postgresql")
    for held, scope in _all(subject):
        default = known[scope.name].default if scope.name in known else None
        is_off = scope.name.startswith("enable_") and default == "on" and held.flag is False
        if is_off or (scope.name, held.value) == ("plan_cache_mode", "force_generic_plan"):
            yield subject.violation(
                f"{scope.name} = {held.value} for {scope.whose}",
                settings=[held],
                cost=f"{CANNOT_JUDGE}: {COMPARE}",
                severity=Severity.NOTE,
            )


@rule(COMPONENT)
def role_timeout_tiny(subject: Subject) -> Iterator[Violation]:
    """A limit of a few milliseconds ends a role's or database's statements, or its transactions.

    Why: a number without a unit is in milliseconds: statement_timeout = 30 ends all that takes longer than 30 ms.
    Evidence: the setting.
    Fix: ALTER ROLE ... SET it with its unit: statement_timeout = '30s'.
    Verify: No more "canceling statement due to statement timeout" of that role in the server's log.
    Source: PostgreSQL documentation, Statement Behavior, statement_timeout and lock_timeout; ALTER ROLE.
    """
    for held, scope in _all(subject):
        limit_s = held.number
        if scope.name in SHORT_S and limit_s is not None and 0 < limit_s < SHORT_S[scope.name]:
            yield subject.violation(
                phrase("{} = {:time} for {}", scope.name, limit_s, scope.whose),
                settings=[held],
                cost=phrase("what takes longer than {:time} fails", limit_s),
                severity=Severity.WARNING,
            )


@rule(COMPONENT)
def role_commits_unsafe(subject: Subject) -> Iterator[Violation]:
    """Commits of a role or database are confirmed before they are safe: synchronous_commit is off for it.

    Why: a crash, even of the server alone, loses transactions that its clients were told of; the data stay consistent.
    Evidence: the setting. It is right for what can be repeated.
    Fix: ALTER ROLE ... RESET synchronous_commit, unless all that it does can be done again.
    Verify: SHOW synchronous_commit in a new session of the role.
    Source: PostgreSQL documentation, Asynchronous Commit; ALTER ROLE.
    """
    for held, scope in _named(subject, "synchronous_commit"):
        if held.flag is False:
            yield subject.violation(
                f"synchronous_commit = off for {scope.whose}",
                settings=[held],
                cost="data: the last moments of its commits, at a crash",
                severity=Severity.NOTE,
            )


@rule(COMPONENT)
def role_damage_ignored(subject: Subject) -> Iterator[Violation]:
    """Damaged pages are passed over, or emptied, in the sessions of a role or database.

    Why: zero_damaged_pages empties a page whose header is damaged, with all rows in it; ignore_checksum_failure returns
        what a checksum says is wrong. Both are for saving what can be saved, once.
    Evidence: the setting alone.
    Fix: ALTER ROLE ... RESET it; restore the damaged relation from a backup.
    Verify: SHOW it in a new session of the role; pg_amcheck.
    Source: PostgreSQL documentation, Developer Options, zero_damaged_pages and ignore_checksum_failure.
    """
    for name in BLIND:
        for held, scope in _named(subject, name):
            if held.flag is True:
                yield subject.violation(
                    f"{name} = on for {scope.whose}",
                    settings=[held],
                    cost="data: rows of damaged pages vanish, or are returned wrong",
                    severity=Severity.ERROR,
                )


def _all(subject: Subject) -> Iterator[tuple[Setting, Scope]]:
    """What counts of each setting, and for whom it holds."""
    last = {one.name: one for one in subject.rows}
    for _, one in sorted(last.items()):
        if (scope := scope_of(one.name)) is not None:
            yield one, scope


def _named(subject: Subject, name: str) -> Iterator[tuple[Setting, Scope]]:
    return ((held, scope) for held, scope in _all(subject) if scope.name == name)


def _of_server(subject: Subject, name: str) -> float | None:
    """What the same server has for all others; null where it is not known."""
    servers = [one for one in subject.others if one.component == "postgresql"]
    own = [one for one in servers if one.db == subject.db] or (servers if subject.db == "postgresql" else [])
    return own[0].number(name) if len(own) == 1 else None
