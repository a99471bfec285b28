"""Options that PostgreSQL has for its developers and for repairs, left on where a service runs."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, Severity
from doctord.diagnose.phrase import phrase


class _Option(NamedTuple):
    """One of them: what it costs, which of its values do, how bad that is, and the causes that it explains."""

    costs: str
    severity: Severity = "warning"
    explains: tuple[str, ...] = ()
    is_on: Callable[[str], bool] = lambda value: value == "on"


def _is_set(value: str) -> bool:
    return value not in ("", "off", "0")


_HIDES: Final = "damage is passed over in silence: rows are lost, and nobody is told"
_WRITES: Final = "each statement writes lines of it into the log"
# PostgreSQL documentation, "Developer Options", and of force_parallel_mode (to 15) and log_*_stats.
OPTIONS: Final = {
    "ignore_system_indexes": _Option(
        "each new session, and whoever plans, reads the system catalogues from end to end",
        explains=("connection_churn", "logins_slow", "hard_parsing", "planning_slow"),
    ),
    "debug_discard_caches": _Option(
        "what is known of tables and plans is thrown away all the time, and looked up anew",
        explains=("hard_parsing", "planning_slow"),
        is_on=_is_set,
    ),
    "force_parallel_mode": _Option("each query starts a worker process, however small it is", is_on=_is_set),
    "debug_parallel_query": _Option("each query starts a worker process, however small it is", is_on=_is_set),
    "wal_consistency_checking": _Option(
        "each change writes whole pages into the WAL, and each standby compares them", is_on=_is_set
    ),
    "zero_damaged_pages": _Option(_HIDES),
    "ignore_checksum_failure": _Option(_HIDES),
    "ignore_invalid_pages": _Option(_HIDES),
    "log_parser_stats": _Option(_WRITES, "note"),
    "log_planner_stats": _Option(_WRITES, "note"),
    "log_executor_stats": _Option(_WRITES, "note"),
    "log_statement_stats": _Option(_WRITES, "note"),
    "debug_print_parse": _Option(_WRITES, "note"),
    "debug_print_rewritten": _Option(_WRITES, "note"),
    "debug_print_plan": _Option(_WRITES, "note"),
}


@cause()
def developer_option_on(case: Case) -> Iterator[Claim]:
    """An option for developers or for a repair is on in a server that serves.

    Looks like: ignore_system_indexes, debug_discard_caches, force_parallel_mode (debug_parallel_query),
        wal_consistency_checking, zero_damaged_pages or one of their like is not as it comes.
    Hurts because: they are there to find faults and to save what is left of a damaged cluster: they make all
        statements, or all new sessions, do more work, or pass damage over.
    Speaks for it: the setting in force, and what it does.
    Speaks against it: a server that is there for tests, or a repair that is under way.
    Remedy: Take it out of postgresql.conf, of ALTER SYSTEM, ALTER ROLE and ALTER DATABASE, or of the server's command
        line; reload. ignore_system_indexes holds for sessions that begin after that. After a repair, REINDEX SYSTEM and
        a dump that is read back come first.
    Verify: SHOW of it in a new session is as it comes; no "despite IgnoreSystemIndexes" in the log.
    Source: PostgreSQL documentation, "Developer Options"; "Statistics Monitoring" (log_statement_stats).
    """
    for db in case.dbs:
        for name, option in OPTIONS.items():
            value = case.setting(name, db)
            if value is None or not option.is_on(value):
                continue
            yield Claim(
                phrase("{} = {}: {}", name, value, option.costs),
                impact=NOT_MEASURED,
                confidence=0.9,
                severity=option.severity,
                for_=[Evidence("setting", f"name = '{name}' and db = '{db}'", phrase("{} = {}", name, value), "",
                               "it is meant for developers, and for repairs")],
                explains=option.explains,
                database=db,
            )  # fmt: skip
