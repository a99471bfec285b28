"""Settings in force that have much logged of statements: of the server, of databases and of roles."""

from collections.abc import Mapping, Sequence
from typing import Final

from doctord.analyse.sql.role_settings import role_settings
from doctord.dataset.role_settings import Scope
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.regex import regex

# A statement that is quicker than this is logged for its own sake by nobody.
SMALL_MS: Final = 10.0
ON, DEBUG = ("on",), ("debug", "debug1", "debug2", "debug3", "debug4", "debug5")
# Settings that have statements logged whatever they take, and what of them that is.
WORDS: Final = (
    ("log_statement", ("all", "mod"), "each statement, before it is executed"),
    ("log_duration", ON, "the time of each statement"),
    ("log_min_messages", DEBUG, "what the server does, step by step"),
    ("log_statement_stats", ON, "resource usage of each statement, in a dozen lines"),
    ("log_executor_stats", ON, "resource usage of each execution, in a dozen lines"),
    ("log_planner_stats", ON, "resource usage of each planning, in a dozen lines"),
    ("log_parser_stats", ON, "resource usage of each parse, rewrite and analysis, a dozen lines for each"),
    ("debug_print_plan", ON, "the tree of each plan, in hundreds of lines"),
    ("debug_print_parse", ON, "the tree of each query, in hundreds of lines"),
    ("debug_print_rewritten", ON, "the tree of each rewritten query, in hundreds of lines"),
)
LEAST_MS: Final = (
    ("log_min_duration_statement", "each statement that takes as long"),
    ("log_min_duration_sample", "of statements that take as long the part that log_statement_sample_rate says"),
    ("auto_explain.log_min_duration", "the plan of each statement that takes as long"),
)
# They tell how much auto_explain writes, and measures of all statements, where it is at work.
OF_PLANS: Final = (
    ("auto_explain.log_nested_statements", "also of each statement within a function, each time"),
    ("auto_explain.log_analyze", "all statements are executed with instrumentation, also those that are not logged"),
    ("auto_explain.log_timing", "with log_analyze the clock is read twice for each row of each node"),
    ("auto_explain.log_buffers", "more lines for each node"),
    ("auto_explain.log_verbose", "the columns of each node"),
    ("auto_explain.log_triggers", "triggers of each statement"),
)
PLAN_MS: Final = "auto_explain.log_min_duration"
LIBRARIES: Final = ("shared_preload_libraries", "session_preload_libraries", "local_preload_libraries")
AUDIT: Final = "pgaudit"
WRITERS: Final = {"auto_explain": "plans", AUDIT: "an audit of each statement"}
_DURATION: Final = regex(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>us|ms|s|min|h|d)?")
MS: Final = {"us": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6, "d": 8.64e7}


def settings_in_force(case: Case, db: str) -> list[Evidence]:
    """The settings in force that have so much logged: of the server, then of databases and roles."""
    names = [*(it[0] for it in (*WORDS, *LEAST_MS, *OF_PLANS)), *LIBRARIES, "pgaudit.log"]
    everywhere = _that_log({name: value for name in names if (value := case.setting(name, db)) is not None})
    found = [
        Evidence("setting", f"name = '{name}' and db = '{db}'", phrase("{} = {}", name, value), "", why)
        for name, value, why in everywhere
    ]
    return [*found, *_settings_of_roles(case, db)]


def _settings_of_roles(case: Case, db: str) -> list[Evidence]:
    """Those of databases and roles, the same one once: with how many have it so."""
    scopes: dict[tuple[str, str, str], list[Scope]] = {}
    for (role, database), own in _of_roles(case, db).items():
        for told in _that_log(own):
            scopes.setdefault(told, []).append(Scope(role, database, told[0]))
    return [_of_scopes(db, told, own) for told, own in scopes.items()]


def _of_scopes(db: str, told: tuple[str, str, str], own: Sequence[Scope]) -> Evidence:
    name, value, why = told
    first, more = own[0], len(own) - 1
    where = f"name like '% {name}'" if more else f"name = '{first.text}'"
    others = phrase(" and {:,} {}", more, "other" if more == 1 else "others") if more else ""
    whose = phrase("{} = {} for {}{}", name, value, first.whose, others)
    return Evidence("setting", f"{where} and db = '{db}'", whose, "", why)


def _that_log(values: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Those of some settings that have much logged: name, value, and what that is."""
    told = [(name, values[name], why) for name, words, why in WORDS if values.get(name) in words]
    told += [(name, values[name], why) for name, why in LEAST_MS if _is_small(values.get(name))]
    if _is_small(values.get(PLAN_MS)):
        told += [(name, "on", why) for name, why in OF_PLANS if values.get(name) == "on"]
    told += [
        (name, values[name], f"{library} writes {what}")
        for name in LIBRARIES
        for library, what in WRITERS.items()
        if library in values.get(name, "") and _is_open(library, values)
    ]
    return told


def _is_open(library: str, values: Mapping[str, str]) -> bool:
    """Whether a library that is loaded may write: its own settings do not say that it is off, or how much it writes."""
    return values.get("pgaudit.log") != "none" if library == AUDIT else PLAN_MS not in values


def _is_small(value: str | None) -> bool:
    """Whether a least duration, in milliseconds or with a unit, is so small that nearly everything is logged."""
    found = _DURATION.fullmatch(value or "")
    return found is not None and float(found["number"]) * MS[found["unit"] or "ms"] <= SMALL_MS


def _of_roles(case: Case, db: str) -> dict[tuple[str | None, str | None], dict[str, str]]:
    """Settings of roles and databases, by role and database; null: every one."""
    found: dict[tuple[str | None, str | None], dict[str, str]] = {}
    for one in role_settings(case.dataset):
        if one.db == db:
            found.setdefault((one.scope.role, one.scope.database), {})[one.scope.name] = one.value
    return found
