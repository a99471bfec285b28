"""Settings of a role or a database by which its statements are slow."""

from typing import Any

import pytest

from diagnose.causes.tables.test_indexes import BUSY
from diagnose.hosts import DB, host
from doctord.dataset.role_settings import COMPONENT
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

SERVER = {
    "work_mem": "4096", "hash_mem_multiplier": "2", "enable_hashjoin": "on", "enable_indexscan": "on",
    "plan_cache_mode": "auto", "jit": "on", "jit_above_cost": "100000", "random_page_cost": "4", "seq_page_cost": "1",
    "join_collapse_limit": "8", "effective_cache_size": "524288",
}  # fmt: skip
STATEMENT = {
    "statement_id": "7", "text": "SELECT id FROM lines WHERE NOT (item IN (SELECT item FROM retired)) AND shop = $1",
    "calls_per_s": 20.0, "elapsed_s_per_s": 1.9, "rows_per_s": 60.0, "temp_bytes_per_s": 0.0, "hit_blocks_per_s": 9e4,
}  # fmt: skip
LOOKUP = STATEMENT | {"text": "SELECT id FROM lines WHERE item = $1"}
SORT = STATEMENT | {"text": "SELECT id FROM lines WHERE shop = $1 ORDER BY item"}
JOIN = STATEMENT | {"text": "SELECT a.id FROM lines a JOIN items b ON a.item = b.id WHERE a.shop = $1"}
PORTAL = {"statement_id": "7", "user": "portal", "statement_s": 0.09}
UNITS = {"work_mem": "kB", "effective_cache_size": "8kB"}


def held(name: str, value: str | None, db: str = DB) -> dict[str, Any]:
    unit = UNITS.get(name.rpartition(" ")[2])
    return {"component": COMPONENT, "db": db, "name": name, "value": value, "unit": unit}


def found(
    *settings: dict[str, Any],
    statement: dict[str, Any] = STATEMENT,
    sessions: tuple[dict[str, Any], ...] = (PORTAL,),
    server: dict[str, str] = SERVER,
    **more: Any,
) -> dict[str, Finding]:
    seen = host(time=BUSY, statements=[statement], sessions=sessions, settings=server,
                extra={"setting": settings}, **more)  # fmt: skip
    return {finding.cause: finding for finding in diagnose(seen).findings}


def test_work_mem_without_its_unit() -> None:
    told = found(held("portal * work_mem", "64"))
    finding = next(iter(told.values()))
    assert (finding.cause, finding.severity, finding.database) == ("role_setting_slows", "warning", DB)
    assert said(finding.title).startswith("work_mem = 64.0 KiB for role portal, which runs ")
    first = finding.for_[0]
    assert (said(first.figure), said(first.threshold)) == ("work_mem = 64.0 KiB for role portal", "4.0 MiB")
    assert any("run by portal in bench" in said(item.why) for item in finding.for_)
    assert said(finding.remedy[0]) == "First: ALTER ROLE portal RESET work_mem; its sessions have to connect anew."
    assert "SET work_mem = '64kB'; EXPLAIN (ANALYZE, BUFFERS, SETTINGS)" in said(finding.not_measured[0].grant)
    assert not finding.against
    assert {one.explained_by for one in told.values() if one.cause == "few_rows_of_many_blocks"} <= {
        "role_setting_slows"
    }


def test_sixty_roles_with_the_same_setting_are_one_finding() -> None:
    """Each with a statement of its own, as of an application with a role for each of its customers."""
    roles = range(60)
    settings = [held(f"customer{n} * work_mem", "64") for n in roles]
    own = {"calls_per_s": 5.0, "elapsed_s_per_s": 0.05}
    statements = [
        STATEMENT | own | {"statement_id": str(n), "text": f"{STATEMENT['text']} AND {n} = {n}"} for n in roles
    ]
    sessions = [{"statement_id": str(n), "user": f"customer{n}", "sid": 7100 + n} for n in roles]
    dataset = host(statements=statements, sessions=sessions, settings=SERVER, extra={"setting": settings}, seconds=2)
    (finding,) = [one for one in diagnose(dataset).findings if one.cause == "role_setting_slows"]
    assert "customer0" in said(finding.title)
    assert "57 others" in said(finding.title)
    assert len(finding.for_) == 6
    assert said(finding.remedy[3]).startswith("So for 57 others")


@pytest.mark.parametrize(
    ("settings", "statement"),
    [
        ([held("portal bench work_mem", "64")], STATEMENT),
        ([held("* bench work_mem", "64")], STATEMENT),
        ([held("* * work_mem", "64")], STATEMENT),
        ([held("portal * work_mem", "1024")], SORT | {"temp_bytes_per_s": 9e7}),
        ([held("portal * enable_hashjoin", "off")], JOIN),
        ([held("portal * enable_indexscan", "off")], LOOKUP),
        ([held("portal * plan_cache_mode", "force_generic_plan")], LOOKUP),
        ([held("portal * jit_above_cost", "0")], LOOKUP),
        ([held("portal * random_page_cost", "1"), held("portal * seq_page_cost", "4")], LOOKUP),
        ([held("portal * seq_page_cost", "0.1")], LOOKUP),
        ([held("portal * effective_cache_size", "1024")], LOOKUP),
        ([held("portal * join_collapse_limit", "1")], JOIN),
    ],
)
def test_what_is_worse_for_the_statement(settings: list[dict[str, Any]], statement: dict[str, Any]) -> None:
    assert found(*settings, statement=statement)["role_setting_slows"].severity in ("warning", "critical")


@pytest.mark.parametrize(
    ("settings", "statement"),
    [
        ([], STATEMENT),
        ([held("portal * application_name", "(set, not shown)"), held("portal * TimeZone", "UTC")], STATEMENT),
        ([held("portal * work_mem", "262144")], SORT | {"temp_bytes_per_s": 9e7}),
        ([held("portal * work_mem", "64")], LOOKUP),
        ([held("portal * work_mem", "64")], SORT),
        ([held("portal * work_mem", "64"), held("portal bench work_mem", "65536")], STATEMENT),
        ([held("portal * work_mem", None)], STATEMENT),
        ([held("reports * work_mem", "64")], STATEMENT),
        ([held("* other work_mem", "64")], STATEMENT),
        ([held("portal * work_mem", "64", db="postgresql:5433")], STATEMENT),
        ([held("portal * enable_hashjoin", "off")], LOOKUP),
        ([held("portal * enable_hashjoin", "on")], JOIN),
        ([held("portal * plan_cache_mode", "force_custom_plan")], LOOKUP),
        ([held("portal * jit", "off"), held("portal * jit_above_cost", "0")], LOOKUP),
        ([held("portal * random_page_cost", "1.1")], LOOKUP),
        ([held("portal * join_collapse_limit", "4")], JOIN),
        ([held("portal * statement_timeout", "0"), held("portal * synchronous_commit", "off")], STATEMENT),
        ([held("portal * work_mem", "64")], STATEMENT | {"elapsed_s_per_s": 0.004}),
    ],
    ids=[
        "nothing set", "harmless", "more memory", "nothing sorted", "a sort that needed no file",
        "better in this database", "gone", "another role's", "another database's", "another server's", "no join",
        "not switched off", "custom plans", "no JIT", "cheap reads", "few tables", "nothing of plans", "quick and rare",
    ],
)  # fmt: skip
def test_it_is_another_reason(settings: list[dict[str, Any]], statement: dict[str, Any]) -> None:
    assert "role_setting_slows" not in found(*settings, statement=statement)


@pytest.mark.parametrize(("memory", "severity"), [("64", "warning"), ("256", "note"), ("2048", "note")])
def test_a_little_less_memory_may_be_meant_so(memory: str, severity: str) -> None:
    rare = STATEMENT | {"calls_per_s": 1.0, "elapsed_s_per_s": 0.02}
    session = PORTAL | {"samples": 1, "interval_s": 0.4}
    finding = found(held("portal * work_mem", memory), statement=rare, sessions=(session,))["role_setting_slows"]
    assert finding.severity == severity


def test_what_the_server_has_for_everybody_is_no_roles() -> None:
    low = SERVER | {"work_mem": "64"}
    assert "role_setting_slows" not in found(held("portal * work_mem", "64"), server=low)


def test_what_our_own_session_was_given_by_its_database_is_not_the_servers() -> None:
    ours = {"component": "postgresql", "db": DB, "name": "work_mem", "value": "64", "source": "database"}
    server = {name: value for name, value in SERVER.items() if name != "work_mem"}
    assert "role_setting_slows" in found(held("* bench work_mem", "64"), ours, server=server)


def test_a_statement_that_waits_for_a_lock_is_slow_for_that() -> None:
    waits = PORTAL | {"wait_class": "Application", "event": "transactionid"}
    assert "role_setting_slows" not in found(held("portal * work_mem", "64"), sessions=(waits,))


@pytest.mark.parametrize(("others_s", "confidence", "severity"), [(0.002, 0.9, "critical"), (0.08, 0.3, "note")])
def test_others_run_the_same_statement(others_s: float, confidence: float, severity: str) -> None:
    others = {"statement_id": "7", "user": "clerk", "statement_s": others_s, "samples": 8}
    finding = found(held("portal * work_mem", "64"), sessions=(PORTAL, others))["role_setting_slows"]
    assert (finding.confidence, finding.severity) == (confidence, severity)
    told = finding.for_ if severity == "critical" else finding.against
    assert any(said(item.figure).endswith("times as long as for clerk") for item in told)


def test_most_of_it_is_run_by_others() -> None:
    others = ({"statement_id": "7", "user": "clerk", "statement_s": 0.09},) * 2
    assert "role_setting_slows" not in found(held("portal * work_mem", "64"), sessions=(PORTAL, *others))


def test_what_it_explains() -> None:
    spill = {(None, "pg_stat_database.temp_bytes"): 9e7}
    told = found(held("portal * work_mem", "64"), statement=SORT | {"temp_bytes_per_s": 9e7}, postgres=spill)
    assert told["role_setting_slows"].confidence == 0.8
    assert told["sort_spill"].explained_by == "role_setting_slows"
    (memory,) = [item for item in told["sort_spill"].for_ if "temp_bytes" in item.filter]
    assert said(memory.why) == "work_mem is 64 kB"


def test_without_statements_it_is_a_note() -> None:
    working = {"user": "portal"}
    told = found(held("portal * enable_indexscan", "off"), sessions=(working,),
                 statement=LOOKUP | {"calls_per_s": 0.0, "elapsed_s_per_s": 0.0})  # fmt: skip
    finding = told["role_setting_slows"]
    assert (finding.severity, finding.confidence) == ("note", 0.4)
    assert "compute_query_id" in said(finding.not_measured[0].grant)
