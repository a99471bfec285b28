import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from doctord import cli
from doctord.dataset.dataset import Dataset
from doctord.lint import engine
from doctord.lint.sql.hints import DIALECTS, dialect_of, known_hints
from doctord.lint.statement import statements
from doctord.lint.violation import Severity
from doctord.report import phrases
from settings_datasets import HOST, machine


def said(sql: str, cpus: int | None = 8, dataset: Dataset | None = None) -> dict[str, str]:
    examined = engine.examine(dataset or Dataset(), list(statements(sql, "q.sql")), cpus)
    return {violation.rule.partition("/")[2]: phrases.said(violation.title) for violation in examined.violations}


@pytest.mark.parametrize(
    ("sql", "rule", "words"),
    [
        # D12: the case's own example of a contradiction
        (
            "select /*+ FULL(f) PARALLEL_INDEX(f, f_ix, 4) */ 1 from fact f",
            "hints_contradict",
            "FULL(f) and PARALLEL_INDEX(f f_ix 4) exclude each other",
        ),
        ("select /*+ FULL(f) INDEX(f f_ix) */ 1 from fact f", "hints_contradict", "exclude each other"),
        ("select /*+ PARALLEL(f 4) NO_PARALLEL(f) */ 1 from fact f", "hints_contradict", "exclude each other"),
        ("select /*+ USE_NL(a b) USE_HASH(b a) */ 1 from a, b", "hints_contradict", "exclude each other"),
        ("select /*+ ORDERED LEADING(b a) */ 1 from a, b", "hints_contradict", "exclude each other"),
        ("select /*+ ALL_ROWS FIRST_ROWS(10) */ 1 from a", "hints_contradict", "exclude each other"),
        ("select /*+ NO_MERGE(v) MERGE(v) */ 1 from (select 1 from a) v", "hints_contradict", "exclude each other"),
        ("/*+ SeqScan(t) IndexScan(t) */ select 1 from t", "hints_contradict", "exclude each other"),
        ("select /*+ JOIN_FIXED_ORDER() JOIN_ORDER(b, a) */ 1 from a, b", "hints_contradict", "exclude each other"),
        ("select /*+ PARALLEL(f 17) */ 1 from fact f", "degree_above_cpus", "17 is above twice the 8 CPUs"),
        ("select /*+ PARALLEL(17) */ 1 from fact f", "degree_above_cpus", "17 is above twice"),
        ("/*+ Parallel(t 32 hard) SeqScan(t) */ select 1 from t", "degree_above_cpus", "32 is above twice"),
        ("select /*+ FUL(f) */ 1 from fact f", "hint_unknown", "FULL is most like it"),
        ("select /*+ RULE */ 1 from fact f", "hint_deprecated", "desupported"),
        ("select /* + FULL(f) */ 1 from fact f", "hint_malformed", "a blank stands before the plus"),
        ("select /*+ FULL(f */ 1 from fact f", "hint_malformed", "not closed"),
        ("select /*+ FULL */ 1 from fact f", "hint_malformed", "names no table"),
        ("select /*+ FULL(f) ??? */ 1 from fact f", "hint_malformed", "what is ? ? ?"),
        ("select f.x /*+ FULL(f) */ from fact f", "hint_misplaced", "hints stand behind x"),
        ("select * from t where a = 'x' /*+ SeqScan(t) */", "hint_misplaced", "first comment"),
        ("select /*+ FULL(fact) */ 1 from fact f", "hint_on_absent_table", "no fact here, but f"),
        ("select /*+ FULL(b) */ 1 from (select 1 from big b) v", "hint_on_absent_table", "no b here, but v"),
        ("/*+ HashJoin(a c) */ select 1 from a join b using (id)", "hint_on_absent_table", "no c here, but a, b"),
        ("select /*+ BKA(t3) NO_ICP(t1) */ 1 from t1 join t2 on 1", "hint_on_absent_table", "no t3 here"),
        ("update /*+ INDEX(x) */ emp e set a = 1", "hint_on_absent_table", "no x here, but e"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_else(sql: str, rule: str, words: str) -> None:
    found = said(sql)
    assert list(found) == [rule]
    assert words in found[rule]


@pytest.mark.parametrize(
    "sql",
    [
        "select /*+ FULL(f) PARALLEL(f, 16) */ 1 from fact f",
        "select /*+ INDEX(f f_ix) FULL(d) LEADING(d f) USE_NL(f) */ 1 from fact f, dim d",
        "select /*+ PARALLEL */ 1 from fact",
        "select /*+ PARALLEL(AUTO) */ 1 from fact",
        "select /*+ FULL(fact) */ 1 from dwh.fact",
        "select /*+ FULL(@inner b) QB_NAME(outer) */ 1 from (select /*+ QB_NAME(inner) */ 1 from big b) v",
        "select /*+ FULL(v.b) */ 1 from (select 1 from big b) v, b",
        "insert /*+ APPEND PARALLEL(t 8) */ into t select /*+ FULL(u) */ * from u",
        "merge /*+ APPEND */ into t using s on (t.id = s.id) when matched then update set t.a = s.a",
        "/*+ Leading((a b)) HashJoin(a b) Rows(a b #10) Set(work_mem '1GB') */ select 1 from a join b using (id)",
        "explain (costs off) /*+ SeqScan(t) */ select 1 from t",
        "select /*+ SET_VAR(sort_buffer_size = 16M) MAX_EXECUTION_TIME(1000) JOIN_ORDER(b, a) */ 1 from a join b on 1",
        "select 1 from dual",
    ],
)
def test_what_is_right_is_not(sql: str) -> None:
    assert said(sql) == {}


def test_of_a_statement_that_cannot_be_parsed_the_names_are_not_judged() -> None:
    assert said("select /*+ FULL(zzz) */ * frm where &x fact f") == {}


def test_a_degree_cannot_be_judged_without_the_cpus() -> None:
    sql = "select /*+ PARALLEL(f 17) */ 1 from fact f"
    (violation,) = engine.examine(Dataset(), list(statements(sql, "q.sql"))).violations
    assert violation.severity is Severity.NOTE
    assert "--cpus" in violation.not_measured[0].grant
    assert "above twice the 4 CPUs" in said(sql, None, Dataset.from_rows(**machine(cpus=4)))["degree_above_cpus"]


def measured(text: str, *, blocks: float, rows: float) -> Dataset:
    seconds = [datetime(2026, 11, 21, second=second, tzinfo=UTC) for second in range(1, 11)]
    row = {"ts": seconds[-1], "host": HOST, "interval_s": 10.0, "db": "oracle:X", "statement_id": "1", "text": text}
    row |= {"calls_per_s": 1.0, "rows_per_s": rows, "hit_blocks_per_s": blocks, "elapsed_s_per_s": 0.4}
    busy = {"host": HOST, "interval_s": 1.0, "db": "oracle:X", "sid": 1, "kind": "client", "state": "active"}
    busy |= {"wait_class": "CPU", "event": "CPU", "statement_id": "1"}
    cpu = {"host": HOST, "interval_s": 1.0}
    return Dataset.from_rows(
        statement=[row],
        session=[{**busy, "ts": ts} for ts in seconds],
        cpu=[{**cpu, "ts": ts} for ts in seconds],
    )


@pytest.mark.parametrize(
    ("hint", "blocks", "rows", "wrong"),
    [
        ("FULL(f)", 200_000, 3, True),
        ("FULL(f)", 200_000, 1_000_000, False),
        ("FULL(f)", 50, 1, False),
        ("INDEX(f f_ix)", 900_000, 800_000, True),
        ("INDEX(f f_ix)", 12, 4, False),
    ],
)
def test_the_statistics_say_which_access_path(hint: str, blocks: float, rows: float, *, wrong: bool) -> None:
    sql = f"select /*+ {hint} */ a from fact f where b = 17"
    dataset = measured("select a from fact f where b = ?", blocks=blocks, rows=rows)
    assert ("access_path_unlike_rows" in said(sql, 8, dataset)) is wrong


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_knows_its_own(dialect: str) -> None:
    assert len(known_hints(dialect)) > 20
    known = [hint for hint in known_hints(dialect).values() if hint.takes in {"none", "tables"}]
    text = "select /*+ " + " ".join(f"{hint.name}(a)" for hint in known) + " */ 1 from a"
    assert dialect_of(list(statements(text, "q.sql"))) == dialect


def test_files_of_sql_on_the_command_line(tmp_path: Path) -> None:
    cli.load()
    file = tmp_path / "q.sql"
    file.write_text("-- x\nselect /*+ FUL(f) */ 1 from fact f;\n", encoding="utf-8")
    outcome = CliRunner().invoke(cli.app, ["lint", str(file), "--json"])
    assert outcome.exit_code == 1
    (violation,) = json.loads(outcome.stdout)["violations"]
    assert (violation["settings"][0]["line"], violation["settings"][0]["column"]) == (2, 12)


def test_a_huge_line_and_packed_noise_cost_no_more_than_a_message(tmp_path: Path) -> None:
    cli.load()
    long, packed = tmp_path / "long.sql", tmp_path / "packed.sql"
    long.write_text("select /*+ FUL(f) */ " + "x, " * 300_000 + "1 from fact f", encoding="utf-8")
    packed.write_bytes(gzip.compress(bytes(range(256)) * 100))
    outcome = CliRunner().invoke(cli.app, ["lint", str(long), str(packed)])
    assert outcome.exit_code == 1
    assert "FULL is most like it" in outcome.stdout
