"""Statements of an AWR-miner report: those of each snapshot, and those of the whole; SQL of SYS is left out by it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from doctord.read.oracle.awr_miner.metrics import MIB
from doctord.read.oracle.awr_miner.report import Found, Placed, Report, Span

GIB = float(1 << 30)


def by_snapshot(report: Report, found: list[Placed]) -> Iterator[Found]:
    """A row of `statement` for each SQL id and snapshot: its plans, modules and schemas added up."""
    groups: dict[tuple[Span, str], list[Placed]] = defaultdict(list)
    for it in found:
        if sql_id := it.text("sql_id"):
            groups[it.span, sql_id].append(it)
    for (span, sql_id), rows in groups.items():
        yield from _statement(report, span, sql_id, rows)


def _statement(report: Report, span: Span, sql_id: str, rows: list[Placed]) -> Iterator[Found]:
    first = max(rows, key=lambda it: it.figure("elap_s") or 0.0)
    blocks = _sum(rows, "pio")
    if blocks is None and report.block_bytes and (read_bytes := _sum(rows, "read_mb", MIB)) is not None:
        blocks = read_bytes / report.block_bytes
    figures = {
        "calls_per_s": _sum(rows, "execs"),
        "elapsed_s_per_s": _sum(rows, "elap_s"),
        "cpu_s_per_s": _sum(rows, "cpu_t_s"),
        "rows_per_s": _sum(rows, "rows_proc"),
        "read_blocks_per_s": blocks,
    }
    named = {"statement_id": sql_id, "text": origin(first), "plan_id": first.text("plan_hash")}
    yield "statement", span.at | named | {name: span.per_s(value) for name, value in figures.items()}
    # The column with more digits where the script has both.
    waited_s = _sum(rows, "iowait_time", 1e-6)
    waited_s = _sum(rows, "io_wait") if waited_s is None else waited_s
    for name, value, unit in (
        ("gets", _sum(rows, "buffer_gets"), "per_s"),
        ("user_io_wait_time", waited_s, "s_per_s"),
        ("px_servers_executions", _sum(rows, "px_servers_execs"), "per_s"),
        ("direct_write_bytes", _sum(rows, "direct_w_gb", GIB), "bytes_per_s"),
    ):
        yield from first.rate(f"v$sqlstats.{name}", value, unit, sql_id)
    yield from first.statistic("v$sqlstats.optimizer_cost", first.figure("optimizer_cost"), None, entity=sql_id)


def of_the_whole(_: Report, found: list[Placed]) -> Iterator[Found]:
    """Statements that are first by any order over all snapshots, as statistics: `statement` holds them by snapshot."""
    groups: dict[str, list[Placed]] = defaultdict(list)
    for it in found:
        if sql_id := it.text("sql_id"):
            groups[sql_id].append(it)
    for sql_id, rows in groups.items():
        for name, column, factor, unit in (
            ("executions", "execs", 1.0, "per_s"),
            ("elapsed_time", "elap", 1e-6, "s_per_s"),
            ("gets", "log_reads", 1.0, "per_s"),
            ("physical_read_bytes", "phy_read_gb", GIB, "bytes_per_s"),
            ("px_servers_executions", "px_servers_execs", 1.0, "per_s"),
        ):
            yield from rows[0].rate(f"top_sql.{name}", _sum(rows, column, factor), unit, sql_id)
        plans = max((it.figure("plan_count") for it in rows), key=lambda count: count or 0.0)
        yield from rows[0].statistic("top_sql.plans", plans, None, entity=sql_id)


def origin(it: Placed) -> str | None:
    """What is known of a statement instead of its text: kind, schema, module, as a comment.

    A client that connects by a string may have it in its module: only what stands before `@` is kept.
    """
    module = (it.text("module") or "").partition("@")[0]
    parts = (it.text("command_name"), it.text("parsing_schema_name"), module or None, it.text("action"))
    known = [part for part in parts if part]
    return f"/* {', '.join(known)} */" if known else None


def _sum(rows: Iterable[Placed], column: str, factor: float = 1.0) -> float | None:
    known = [value for it in rows if (value := it.figure(column, factor)) is not None]
    return sum(known) if known else None


BY_SNAPSHOT: dict[str, Callable[[Report, list[Placed]], Iterator[Found]]] = {"TOP-SQL-BY-SNAPID": by_snapshot}
WHOLE: dict[str, Callable[[Report, list[Placed]], Iterator[Found]]] = {"TOP-SQL-SUMMARY": of_the_whole}
