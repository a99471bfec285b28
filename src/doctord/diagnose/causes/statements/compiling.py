"""What is done before a statement runs: planning it, and compiling its expressions."""

import re
from collections.abc import Iterator

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.statements import plan_invalidations as thrown_away
from doctord.diagnose.causes.statements.plan_invalidations import invalidations
from doctord.diagnose.causes.statements.planner_settings import evidence, first_steps, lengthening, named
from doctord.diagnose.common.failures import failed
from doctord.diagnose.common.slowed import AVOIDABLE, is_slowed, on_cpu_ms, severity
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, at_most
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

JIT_FUNCTIONS = "pg_stat_statements.jit_functions"
JIT_TIMES = (
    "pg_stat_statements.jit_generation_time",
    "pg_stat_statements.jit_inlining_time",
    "pg_stat_statements.jit_optimization_time",
    "pg_stat_statements.jit_emission_time",
)
PLAN_TIME = "pg_stat_statements.total_plan_time"
# A statement that runs ten times as long as it is compiled for may well have won by it.
DEAR = 0.1
# Planned for half as long as it then runs: a plan that is kept would be felt.
DEAR_PLAN = 0.5
# A tenth of the default of jit_above_cost: statements of milliseconds are compiled.
LOW_COST = 10_000.0
# Where nobody counts the compiling, a quarter of the time on CPUs leaves room for it.
MUCH_CPU = 0.25
# One error to ten executions that end well, of whichever statement: what samples see may be the one that fails.
OFTEN_FAILING = 0.1
MOST_NAMED = 3
# Statements with most time, whose roles may have JIT set otherwise than the server.
MOST_LOOKED_AT = 10
JIT_TIME = NotMeasured(
    "how long statements are compiled for",
    "no pg_stat_statements of version 1.10 (PostgreSQL 15) or later was read",
    "CREATE EXTENSION pg_stat_statements, or ALTER EXTENSION pg_stat_statements UPDATE; explain (analyze) shows it too",
)
TRACK_PLANNING = "track_planning"
PLANNED = regex(r"\s*(select|with|insert|update|delete|merge|values)\b", re.IGNORECASE)
PLAN_TIMES = NotMeasured(
    "how long statements are planned for",
    "track_planning of pg_stat_statements is off",
    "ALTER SYSTEM SET pg_stat_statements.track_planning = on and reload; explain (analyze, summary) of one call",
)


@cause(explains=("cpu_saturated", "cpu_few_statements"))
def jit_compiles_much(case: Case) -> Iterator[Claim]:
    """Statements are compiled just in time (JIT) for longer than that saves.

    Looks like: compiling takes a part of the database time, on a CPU; statements of few rows take tens of milliseconds.
    Hurts because: each execution, in each session, compiles anew: nothing of it is kept.
    Speaks for it: time spent compiling against all time, and against that of the same statements; a jit_above_cost far
        below its default.
    Speaks against it: statements that run for long beside what compiling them takes.
    Remedy: Raise jit_above_cost (and jit_inline_above_cost, jit_optimize_above_cost) above what short statements cost,
        or switch jit off for the roles and databases that run them; no restart is needed. Where the planner takes cheap
        statements for dear ones (stale statistics, many partitions), mend that.
    Verify: jit_functions of pg_stat_statements stand still; the statements' time per call falls.
    Source: PostgreSQL documentation, "Just-in-Time Compilation (JIT)", "When to JIT?", and pg_stat_statements.
    """
    if not case.figures(JIT_FUNCTIONS):
        yield from _by_setting(case)
        return
    compiling_s, share = _spent(case, *JIT_TIMES)
    if not case.worth_saying(share):
        return
    for_, against = weigh(
        [
            Sign("statistic", f"name in {JIT_TIMES}", _part_of_run(case, *JIT_TIMES), DEAR,
                 "compiling takes {:share} of the time that the same statements run", "they gain little by it",
                 "they run long beside it: compiling may pay"),
            _cost(case),
        ]
    )  # fmt: skip
    functions = sum(figure.mean for figure in case.figures(JIT_FUNCTIONS) if figure.entity is None)
    figure = phrase("{:.2g s per s} spent on compiling {:,.0f functions/s}", compiling_s, functions)
    why = "generation, inlining, optimisation and emission together"
    yield Claim(
        phrase("Compiling statements (JIT) takes {:share of database}", share),
        impact=share,
        confidence=0.6 if against and not for_ else 0.9,
        for_=[
            Evidence("statistic", f"name in {JIT_TIMES} and entity is null", figure, "", why),
            *for_,
            *_statements(case, JIT_TIMES, "compiling"),
        ],
        against=against,
    )


@cause(explains=("cpu_saturated",))
def planning_slow(case: Case) -> Iterator[Claim]:
    """Statements are planned for a large part of the time.

    Looks like: total_plan_time of pg_stat_statements near the execution time, of statements that return few rows. Where
        that is not counted (track_planning is off): sessions are seen on a CPU with a statement for much longer than
        the server says that it runs.
    Hurts because: a plan is made anew for each execution that does not use a prepared statement, and is thrown away;
        that of a prepared one too where a command changes what it depends on in the catalogues.
    Speaks for it: planning time against all time, and against the time that the same statements run; settings of the
        planner that are not at their defaults and lengthen its search, where they were set, and how many tables the
        statement joins; commands of the same tables that come every second (GRANT, REVOKE, ANALYZE, ALTER, CREATE
        INDEX), who runs them, and rows that change in pg_class and other catalogues; executions and plans of it alike.
    Speaks against it: long-running statements: then planning well is worth its time. Where it is not counted: many
        statements that fail, for pg_stat_statements counts none of these.
    Remedy: PostgreSQL: prepare statements once and execute them often (in the driver; pgbouncer from 1.21 on keeps
        them); plan_cache_mode stays auto. Fewer partitions for each statement to look at, a lower join_collapse_limit
        for joins of very many tables, and no default_statistics_target beyond need: planning reads all of that. A
        command that throws the plans away: have it run once, not again and again.
    Verify: total_plan_time (pg_stat_statements.track_planning = on) and plans stand still while calls grow; Planning
        Time of EXPLAIN (SUMMARY) is a small part of a call.
    Source: PostgreSQL documentation, pg_stat_statements.track_planning, PREPARE (Notes), "Query Planning"
        (join_collapse_limit, geqo), "Controlling the Planner with Explicit JOIN Clauses", and "Best Practices for
        Declarative Partitioning".
    """
    planning_s, share = _spent(case, PLAN_TIME)
    if not planning_s and case.setting_of_any(f"pg_stat_statements.{TRACK_PLANNING}") != "on":
        yield from _outside_execution(case)
    if not case.worth_saying(share):
        return
    for_, against = weigh(
        [
            Sign("statistic", f"name = '{PLAN_TIME}'", _part_of_run(case, PLAN_TIME), DEAR_PLAN,
                 "planning takes {:share} as long as the same statements run", "each plan serves once",
                 "they run long beside it")
        ]
    )  # fmt: skip
    most = _most_planned(case)
    longer = lengthening(case, most) if most else []
    thrown = invalidations(case, most) if most else []
    figure = phrase("{:.2g s per s} spent on planning", planning_s)
    yield Claim(
        phrase("Planning statements takes {:share of database}{}{}", share, named(longer), thrown_away.named(thrown)),
        impact=share,
        confidence=0.6 if against else 0.85,
        for_=[
            Evidence("statistic", f"name = '{PLAN_TIME}' and entity is null", figure, "", "beside their execution"),
            *for_,
            *_statements(case, (PLAN_TIME,), "planning"),
            *([*evidence(longer, most), *thrown_away.evidence(case, most, thrown)] if most else []),
        ],
        against=against,
        first_steps=[*(thrown_away.first_steps(case, most, thrown) if most else ()), *first_steps(longer)],
    )


def _most_planned(case: Case) -> Statement | None:
    """The statement that is planned for longest in all."""
    by_id = {one.statement_id: one for one in reversed(case.statements)}
    return next((by_id[name] for name in _by_statement(case, PLAN_TIME) if name in by_id), None)


def _outside_execution(case: Case) -> Iterator[Claim]:
    """Where planning is not counted: statements that are on a CPU for longer than they are executed."""
    for one in [one for one in case.statements if PLANNED.match(one.text or "")]:
        each = on_cpu_ms(case, one)
        if not each or one.elapsed_ms is None:
            continue
        ahead, part = each - one.elapsed_ms, 1 - one.elapsed_ms / each
        against, longer, thrown = _failing(case, one), lengthening(case, one), invalidations(case, one)
        slowed, why_known = is_slowed(one, part, ahead), bool(thrown or named(longer))
        if slowed or (why_known and part >= AVOIDABLE and case.worth_saying(one.share * part)):
            yield Claim(
                phrase("A statement runs for {:.3g ms} and takes {:.3g ms} on a CPU{}{}: {}", one.elapsed_ms, each,
                       named(longer), thrown_away.named(thrown), shortened(one.text or "")),
                impact=at_most(one.share * part),
                confidence=0.4 if against else 0.8 if named(longer) or thrown else 0.65,
                severity="note" if against else severity(case, one.share * part, slowed=slowed),
                for_=[
                    Evidence("session", f"statement_id = '{one.statement_id}'",
                             phrase("{:.1f ms} of each call on a CPU, by samples", each),
                             phrase("{:.1f ms}", one.elapsed_ms), "it runs for less: the rest is planning, or is done "
                             "at its commit", "at_least"),
                    Evidence("statement", f"statement_id = '{one.statement_id}'", phrase("{:.1f calls/s}",
                             one.calls_per_s), "", "planned at each, where it is not prepared"),
                    *evidence(longer, one),
                    *thrown_away.evidence(case, one, thrown),
                ],
                against=against,
                first_steps=[*thrown_away.first_steps(case, one, thrown), *first_steps(longer)],
                not_measured=[PLAN_TIMES],
            )  # fmt: skip
            return


def _failing(case: Case, one: Statement) -> list[Evidence]:
    """That many statements fail: pg_stat_statements counts those that end well, and samples see the others too."""
    per_s = sum(each.per_s for each in failed(case, one.db))
    if not one.calls_per_s or per_s < OFTEN_FAILING * one.calls_per_s:
        return []
    return [
        Evidence("statistic", f"name = 'log.errors' and db = '{one.db}'", phrase("{:.3g errors per s}", per_s),
                 phrase("{:.3g}", OFTEN_FAILING * one.calls_per_s),
                 "executions that fail are not counted: the time may be theirs", "at_least")
    ]  # fmt: skip


def _by_setting(case: Case) -> Iterator[Claim]:
    """Where compiling is not counted: that the settings make almost everything compiled, while CPUs hold the time."""
    cost, on_cpu = _cost(case), case.time.kind_share("cpu", "run queue")
    if not cost.speaks_for or on_cpu < MUCH_CPU or not case.worth_saying(on_cpu):
        return
    yield Claim(
        "Almost every statement is compiled (JIT), by its settings",
        impact=at_most(on_cpu),
        confidence=0.5,
        for_=[cost.evidence()],
        not_measured=[JIT_TIME],
    )


def _cost(case: Case) -> Sign:
    """The cost from which on statements are compiled, of the server with the lowest; nothing where JIT is off."""
    told = [
        (
            case.setting_for("jit", one.db, one.statement_id),
            case.setting_for("jit_above_cost", one.db, one.statement_id),
        )
        for one in case.statements[:MOST_LOOKED_AT]
    ] + [(case.setting("jit", db), case.setting("jit_above_cost", db)) for db in case.dbs]
    costs = [float(value) for jit, value in told if jit == "on" and value and float(value) >= 0]
    return Sign("setting", "name = 'jit_above_cost'", min(costs, default=None), LOW_COST, "jit_above_cost = {:.0f}",
                "short statements are compiled as well: the default is 100000", below=True)  # fmt: skip


def _spent(case: Case, *names: str) -> tuple[float, float]:
    """Seconds per second of what is told in milliseconds of all statements together, and its share of all time."""
    spent_s = sum(figure.mean for name in names for figure in case.figures(name) if figure.entity is None) / 1000
    whole_s = case.time.seconds_per_second if case.time.of == "database" else 0.0
    return spent_s, min(spent_s / whole_s, 1.0) if whole_s else 0.0


def _by_statement(case: Case, *names: str) -> dict[str, float]:
    """The same by statement, those with most first."""
    spent: dict[str, float] = {}
    for figure in (figure for name in names for figure in case.figures(name)):
        if figure.entity is not None:
            spent[figure.entity] = spent.get(figure.entity, 0.0) + figure.mean / 1000
    return dict(sorted(spent.items(), key=lambda one: (-one[1], one[0])))


def _part_of_run(case: Case, *names: str) -> float | None:
    """What was spent beside the time that the same statements ran; null where that is not told."""
    spent = _by_statement(case, *names)
    ran_s = sum(
        (one.elapsed_ms or 0.0) / 1000 * (one.calls_per_s or 0.0)
        for one in case.statements
        if one.statement_id in spent
    )
    return sum(spent.values()) / ran_s if ran_s else None


def _statements(case: Case, names: tuple[str, ...], what: str) -> list[Evidence]:
    """The statements that most was spent on, and how much on each call."""
    calls = {one.statement_id: one for one in case.statements if one.calls_per_s}
    told = [(calls[name], spent_s) for name, spent_s in _by_statement(case, *names).items() if name in calls]
    return [
        Evidence(
            "statement",
            f"statement_id = '{one.statement_id}'",
            phrase("{}: {:.3g ms} of {} a call, {:.3g ms} in all", one.statement_id,
                   spent_s * 1000 / (one.calls_per_s or 1.0), what, one.elapsed_ms),
            "",
            shortened(one.text or ""),
        )
        for one, spent_s in told[:MOST_NAMED]
    ]  # fmt: skip
