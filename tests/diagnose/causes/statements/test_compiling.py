"""Compiling just in time, and planning, that take the time of the statements."""

from typing import Any

import pytest

from diagnose.causes.service.test_failing import failing
from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

BUSY = {("CPU", "CPU"): 1.6}
SHORT = {"statement_id": "7", "text": "SELECT sum(a) FROM t WHERE b = $1", "calls_per_s": 10.0, "elapsed_s_per_s": 1.4}
Figures = dict[tuple[str | None, str], float]


def compiled(ms_per_s: float) -> Figures:
    """Three quarters of it optimisation and emission."""
    parts = {"generation": 0.05, "inlining": 0.2, "optimization": 0.4, "emission": 0.35}
    times = {f"pg_stat_statements.jit_{part}_time": ms_per_s * share for part, share in parts.items()}
    figures = times | {"pg_stat_statements.jit_functions": ms_per_s / 20}
    return {(entity, name): value for entity in (None, "7") for name, value in figures.items()}


def found(postgres: Figures, statement: dict[str, Any] = SHORT, **more: Any) -> dict[str, Finding]:
    diagnosis = diagnose(host(time=BUSY, statements=[statement], postgres=postgres, **more))
    return {finding.cause: finding for finding in diagnosis.findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(item.figure) for item in side)


def test_compiling_for_most_of_the_time() -> None:
    findings = found(compiled(1200.0), settings={"jit": "on", "jit_above_cost": "0"})
    assert next(iter(findings)) == "jit_compiles_much"
    finding = findings["jit_compiles_much"]
    assert finding.impact.share is not None
    assert 0.6 < finding.impact.share <= 0.8
    assert finding.confidence == 0.9
    told = figures(finding.for_)
    assert "1.2 s per s spent on compiling 60 functions/s" in told
    assert "86 % of the time that the same statements run" in told
    assert "7: 120 ms of compiling a call, 140 ms in all" in told
    assert "jit_above_cost = 0" in told


def test_long_statements_are_worth_their_compiling() -> None:
    long = SHORT | {"calls_per_s": 0.1, "elapsed_s_per_s": 1.6}
    findings = found(compiled(120.0), long)
    assert findings["jit_compiles_much"].confidence == 0.6
    assert findings["jit_compiles_much"].severity == "note"
    assert "jit_compiles_much" not in found(compiled(40.0), long)


def test_nothing_compiled_is_no_finding_whatever_the_settings() -> None:
    assert "jit_compiles_much" not in found(compiled(0.0), settings={"jit": "on", "jit_above_cost": "0"})


def test_without_pg_stat_statements_settings_raise_the_question() -> None:
    finding = found({}, settings={"jit": "on", "jit_above_cost": "10"})["jit_compiles_much"]
    assert finding.impact.known == "at_most"
    assert finding.confidence == 0.5
    assert finding.not_measured[0].what == "how long statements are compiled for"
    for settings in ({"jit": "off", "jit_above_cost": "10"}, {"jit": "on", "jit_above_cost": "100000"}, {}):
        assert "jit_compiles_much" not in found({}, settings=settings)


def test_a_server_that_waits_is_not_suspected_of_compiling() -> None:
    seen = host(time={("Commit", "WALSync"): 2.0}, settings={"jit": "on", "jit_above_cost": "0"})
    assert "jit_compiles_much" not in {finding.cause for finding in diagnose(seen).findings}


def planned(ms_per_s: float) -> Figures:
    return {(entity, "pg_stat_statements.total_plan_time"): ms_per_s for entity in (None, "7")}


def test_planning_that_takes_longer_than_running() -> None:
    finding = found(planned(900.0), SHORT | {"elapsed_s_per_s": 0.5})["planning_slow"]
    assert finding.confidence == 0.85
    assert "7: 90 ms of planning a call, 50 ms in all" in figures(finding.for_)


def test_planning_beside_long_runs() -> None:
    finding = found(planned(200.0))["planning_slow"]
    assert finding.confidence == 0.6
    assert "planning_slow" not in found(planned(20.0))
    assert "planning_slow" not in found({})


def test_executions_that_fail_are_not_counted() -> None:
    quick = {"statement_id": "8", "text": "SELECT a FROM t WHERE b = $1", "calls_per_s": 10.0, "elapsed_s_per_s": 0.02}
    seen = {"statement_id": "8", "wait_kind": "cpu", "interval_s": 0.4}
    errors = {"ERROR 22012 division by zero": 3.0}
    diagnosis = diagnose(failing(errors, statements=[quick], sessions=[seen]))
    finding = next(one for one in diagnosis.findings if one.cause == "planning_slow")
    assert (finding.severity, finding.confidence) == ("note", 0.4)
    assert figures(finding.against) == "3 errors per s"


def on_cpu(
    share: float, text: str = "SELECT a FROM t WHERE b = $1", settings: dict[str, str] | None = None, **more: Any
) -> dict[str, Finding]:
    """Sessions seen on a CPU with a statement that the server says runs for 2 ms, ten times a second."""
    quick = {"statement_id": "8", "text": text, "calls_per_s": 10.0, "elapsed_s_per_s": 0.02}
    seen = {"statement_id": "8", "wait_kind": "cpu", "interval_s": share} | more
    diagnosis = diagnose(host(statements=[quick], sessions=[seen], settings=settings))
    return {finding.cause: finding for finding in diagnosis.findings}


def test_planning_that_nobody_counts_is_seen_in_samples() -> None:
    finding = on_cpu(0.4)["planning_slow"]
    assert (finding.severity, finding.confidence, finding.impact.known) == ("warning", 0.65, "at_most")
    assert "40.0 ms of each call on a CPU, by samples" in figures(finding.for_)
    assert finding.not_measured[0].why == "track_planning of pg_stat_statements is off"
    assert "planning_slow" not in on_cpu(0.05)  # 3 ms a call
    assert "planning_slow" not in on_cpu(0.4, samples=10)  # too few looks
    assert "planning_slow" not in on_cpu(0.4, kind="parallel worker")
    assert "planning_slow" not in on_cpu(0.4, wait_class="Commit", event="WALSync", wait_kind="log sync")


def test_samples_without_a_wait_are_held_against_what_the_kernel_counts() -> None:
    """Sessions that sleep where the server has no wait event (commit_delay), or that queue for a CPU."""
    own = {"statement_id": "8", "wait_kind": "cpu", "interval_s": 0.4, "pid": 1000}
    quick = {"statement_id": "8", "text": "INSERT INTO t VALUES ($1)", "calls_per_s": 10.0, "elapsed_s_per_s": 0.02}

    def causes(usr_pct: float) -> dict[str, Finding]:
        backend = {"usr_pct": usr_pct, "sys_pct": 0.0, "run_wait_pct": 0.0}
        seen = host(statements=[quick], sessions=[own], time={}, backend=backend, backends=1)
        return {finding.cause: finding for finding in diagnose(seen).findings}

    assert "planning_slow" not in causes(3.0)
    assert "40.0 ms of each call on a CPU" in figures(causes(40.0)["planning_slow"].for_)


JOINED = "SELECT * FROM t0 " + " ".join(f"JOIN t{number} ON t{number}.id = t0.id" for number in range(1, 14))
DEFAULTS = {"join_collapse_limit": "8", "geqo": "on", "default_statistics_target": "100", "plan_cache_mode": "auto"}


def test_settings_that_lengthen_the_search_are_named_where_it_is_counted() -> None:
    many = SHORT | {"elapsed_s_per_s": 0.5, "text": JOINED}
    finding = found(planned(900.0), many, settings=DEFAULTS | {"join_collapse_limit": "20", "geqo": "off"})[
        "planning_slow"
    ]
    assert said(finding.title).endswith("; join_collapse_limit = 20, geqo = off")
    assert "14 tables are joined by its text" in figures(finding.for_)
    assert "SET join_collapse_limit = 8; SET geqo = on" in said(finding.remedy[0])
    assert "join_collapse_limit" not in said(found(planned(900.0), many, settings=DEFAULTS)["planning_slow"].title)


def test_a_setting_that_two_tables_do_not_feel_is_told_as_a_question() -> None:
    finding = found(planned(900.0), SHORT | {"elapsed_s_per_s": 0.5}, settings={"join_collapse_limit": "20"})[
        "planning_slow"
    ]
    assert "join_collapse_limit" not in said(finding.title)
    [told] = [item for item in finding.for_ if "join_collapse_limit = 20" in said(item.figure)]
    assert "views that join more" in said(told.why)


def test_they_are_named_too_where_planning_is_only_seen_in_samples() -> None:
    finding = on_cpu(0.4, settings={"join_collapse_limit": "20", "geqo": "off"}, text=JOINED)["planning_slow"]
    assert "; join_collapse_limit = 20, geqo = off" in said(finding.title)
    assert finding.confidence == 0.8


PRICES = {
    "statement_id": "7", "text": "SELECT sum(p.amount) FROM shop.prices AS p JOIN items AS i ON i.id = p.item",
    "calls_per_s": 10.0, "elapsed_s_per_s": 0.0015,
}  # fmt: skip
GRANT = {
    "statement_id": "8", "text": "GRANT SELECT ON shop.prices TO report", "calls_per_s": 20.0, "elapsed_s_per_s": 0.02,
}  # fmt: skip
ON_CPU = [{"statement_id": "7", "wait_kind": "cpu", "interval_s": 0.7}]
WHO: Figures = {
    ("8 deploy", "pg_stat_statements.role_calls"): 4000.0, ("8 postgres", "pg_stat_statements.role_calls"): 3.0,
    ("bench.pg_catalog.pg_class", "pg_stat_sys_tables.n_tup_upd"): 20.0,
    ("bench.pg_catalog.pg_type", "pg_stat_sys_tables.n_tup_upd"): 0.1,
}  # fmt: skip


def thrown(command: dict[str, Any], statement: dict[str, Any] = PRICES) -> Finding:
    diagnosis = diagnose(host(statements=[statement, command], sessions=ON_CPU, postgres=WHO))
    return {finding.cause: finding for finding in diagnosis.findings}["planning_slow"]


def test_a_command_that_throws_the_plan_away() -> None:
    finding = thrown(GRANT)
    assert "; its plan is thrown away by GRANT 20 times a second" in said(finding.title)
    assert finding.confidence == 0.8
    told = figures(finding.for_)
    assert "20.0 calls/s of GRANT by deploy" in told
    assert "bench.pg_catalog.pg_class: 20.0 rows changed a second" in told
    assert "pg_type" not in told
    assert said(finding.remedy[0]).startswith("Find what runs GRANT 20 times a second, by deploy")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("ANALYZE items", "ANALYZE"),
        ("analyze (skip_locked)", "ANALYZE"),
        ("GRANT USAGE ON SCHEMA shop TO report", "GRANT"),
        ("alter table only shop.prices set (fillfactor = $1)", "ALTER TABLE"),
        ("CREATE INDEX CONCURRENTLY ON items (id)", "CREATE INDEX"),
        ("GRANT SELECT ON shop.orders TO report", None),
        ("CREATE TEMP TABLE prices_of_today (id int)", None),
        ("SELECT amount FROM prices", None),
    ],
)
def test_what_throws_a_plan_away(text: str, command: str | None) -> None:
    title = said(thrown(GRANT | {"text": text}).title)
    assert (f"thrown away by {command} 20 times" in title) if command else ("thrown away" not in title)


def test_a_command_once_in_a_while_is_no_reason() -> None:
    assert "thrown away" not in said(thrown(GRANT | {"calls_per_s": 0.5}).title)


def test_where_the_command_is_not_counted_what_it_changes_is_a_trace() -> None:
    step = said(thrown(GRANT | {"calls_per_s": 0.5}).remedy[0])
    assert step.startswith("See whether a command throws the plans away: bench.pg_catalog.pg_class changes 20 times")


def test_where_planning_is_counted_the_command_is_named_too() -> None:
    counted = planned(900.0) | {("7", "pg_stat_statements.plans"): 9.5}
    statements = [PRICES | {"elapsed_s_per_s": 0.5}, GRANT]
    diagnosis = diagnose(host(time=BUSY, statements=statements, postgres=counted | WHO))
    finding = {one.cause: one for one in diagnosis.findings}["planning_slow"]
    assert "; its plan is thrown away by GRANT 20 times a second" in said(finding.title)
    assert "planned 9.5 times a second" in figures(finding.for_)


@pytest.mark.parametrize(("grants_per_s", "severity"), [(20.0, "critical"), (0.5, None)])
def test_milliseconds_that_add_up_count_where_it_is_known_what_throws_the_plans_away(
    grants_per_s: float, severity: str | None
) -> None:
    """Each call takes 3.5 ms on a CPU in place of 0.15: less than anybody feels, and most of the time."""
    often = PRICES | {"calls_per_s": 200.0, "elapsed_s_per_s": 0.03}
    diagnosis = diagnose(host(statements=[often, GRANT | {"calls_per_s": grants_per_s}], sessions=ON_CPU, postgres=WHO))
    found = {finding.cause: finding.severity for finding in diagnosis.findings}
    assert found.get("planning_slow") == severity
