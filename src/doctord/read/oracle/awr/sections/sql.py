"""Statements: one row for each, whatever the order in which sections list them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from doctord._native import ReportTable
from doctord.dataset.scrub import scrub
from doctord.read.oracle.awr.report import InstanceRows, Report, Span, Values, place
from doctord.read.oracle.awr.section import Section, Special, bare_unit, kind_of

ID = ("SQL Id", "SQL ID", "SQL_ID", "Hash Value", "Old Hash Value")
TEXT = ("SQL Text", "Statement")


class Sum(NamedTuple):
    """A sum over the interval of all executions of a statement.

    Attributes:
        key: What it is called here.
        columns: Its columns in different versions.
        is_time: Whether it is a time, in seconds where a cell or the column does not say otherwise.
        scale: Factor.
    """

    key: str
    columns: tuple[str, ...]
    is_time: bool = False
    scale: float = 1.0


SUMS = (
    Sum(
        "elapsed",
        (
            "Elapsed Time (s)",
            "Total Elapsed (s)",
            "Elapsed (s)",
            "Elap Time (s)",
            "Total Elapsed Time (s)",
            "Elapsd Time (s)",
        ),
        is_time=True,
    ),
    Sum("cpu", ("CPU Time (s)", "Total CPU (s)", "CPU (s)", "Total CPU Time (s)"), is_time=True),
    Sum("io", ("User I/O Time (s)", "Total IOWait (s)", "IOWait (s)", "User I/O Wait Time (s)"), is_time=True),
    Sum(
        "cluster",
        ("Cluster Wait Time (s)", "Total Cluster (s)", "Cluster (s)", "Cluster Wait Time (sec)"),
        is_time=True,
    ),
    Sum("gets", ("Buffer Gets", "Total Gets", "Gets")),
    Sum("reads", ("Physical Reads", "Total Reads", "Reads", "Physical Rds")),
    Sum("executions", ("Executions", "#Executions", "Total Execs", "Execs")),
    Sum("rows", ("Rows Processed", "Total Rows", "Rows")),
    Sum("parses", ("Parse Calls", "Parses", "Total Parse Calls")),
    Sum("read_requests", ("Physical Read Reqs", "Total Read Requests", "Read Requests")),
    Sum("unoptimized", ("UnOptimized Read Reqs",)),
)
READINGS = (
    Sum("sharable_mem", ("Sharable Mem (b)", "Sharable Mem (bytes)", "Sharable Memory Used")),
    Sum("version_count", ("Version Count",)),
)
# Where only the mean of an execution is given: the sum it makes, and its column in milliseconds or as a number.
PER_EXECUTION = (
    Sum("elapsed", ("Elapsed Time (ms) per Exec", "Exec Time (ms) per Exec"), scale=0.001),
    Sum("cpu", ("CPU Time (ms) per Exec",), scale=0.001),
    Sum("io", ("I/O Time (ms) per Exec",), scale=0.001),
    Sum("gets", ("Gets per Exec",)),
    Sum("reads", ("Physical Reads per Exec",)),
    Sum("rows", ("#Rows Processed per Exec",)),
)
# Before the key of a sum that is worked out of rounded shares or means: one that is printed is better.
ABOUT = "about "
BLOCK = ("begin", "declare", "call", "{call", "{ call")
# Sums of the statements that are listed, by the module that ran them.
MODULES = {"elapsed": "sql_module.elapsed time", "cpu": "sql_module.cpu time"}
COLUMNS = {
    "executions": "calls_per_s",
    "elapsed": "elapsed_s_per_s",
    "cpu": "cpu_s_per_s",
    "rows": "rows_per_s",
    "reads": "read_blocks_per_s",
}
STATISTICS = {
    "gets": ("v$sqlstats.gets", "per_s"),
    "io": ("v$sqlstats.user_io_wait_time", "s_per_s"),
    "cluster": ("v$sqlstats.cluster_wait_time", "s_per_s"),
    "parses": ("v$sqlstats.parse_calls", "per_s"),
    "read_requests": ("v$sqlstats.physical_read_requests", "per_s"),
    "unoptimized": ("v$sqlstats.unoptimized_read_requests", "per_s"),
    "sharable_mem": ("v$sqlstats.sharable_mem", "bytes"),
    "version_count": ("v$sqlstats.version_count", "count"),
}


GIVEN = (
    *((name, unit, "SQL Id") for name, unit in STATISTICS.values()),
    *((name, "s_per_s", "SQL Module") for name in MODULES.values()),
)


def statements(table: ReportTable, report: Report) -> bool:
    """Figures of the statements of one section, kept until all sections are read."""
    placed = place(table, report)
    column = placed.table.find(*ID)
    if column is None:
        return False
    found = sums(placed)
    shares = placed.table.find("Elapsed Time % of DB time")
    if shares is not None and report.whole.db_time_s:
        found["elapsed"] = placed.table.numbers(shares, by=report.whole.db_time_s, over=100.0)
    instances = placed.row["instance"]
    held: dict[str, Sequence[object]] = found | {
        "short": _texts(placed.table, *TEXT),
        "database": _texts(placed.table, "PDB Name", "Container DB Name"),
        "module": _texts(placed.table, "SQL Module", "Module"),
    }
    here = dict[tuple[str | None, str], dict[str, object]]()
    rows = zip(placed.table.texts(column), zip(*held.values(), strict=True), strict=True)
    for at, (name, row) in enumerate(rows):
        if name is None:
            continue
        statement = (instances[at] if isinstance(instances, list) else report.whole.instance, name)
        told = {key: value for key, value in zip(held, row, strict=True) if value is not None}
        here[statement] = _summed(here[statement], told) if statement in here else told
    for statement, told in here.items():
        report.statements[statement] = told | report.statements.get(statement, {})
    return True


def _summed(before: dict[str, object], told: dict[str, object]) -> dict[str, object]:
    """What one section tells twice of a statement: in two databases of a container, or with two plans."""
    both = {key: (before.get(key), value) for key, value in told.items()}
    sums = {key: a + b for key, (a, b) in both.items() if isinstance(a, float) and isinstance(b, float)}
    return before | told | sums


def _texts(table: ReportTable, *names: str) -> list[str | None]:
    column = table.find(*names)
    return table.texts(column) if column is not None else [None] * len(table)


def sums(placed: InstanceRows) -> dict[str, list[float | None]]:
    """What a section says of its statements, by the names of `SUMS` and `READINGS`."""
    table = placed.table
    found = dict[str, list[float | None]]()
    for wanted in (*SUMS, *READINGS):
        column = table.find(*wanted.columns)
        if column is not None:
            unit = bare_unit(table.names[column], "s")
            found[wanted.key] = table.times(column, bare=unit) if wanted.is_time else table.numbers(column)
    for key, names in (("cpu", ("%CPU", "% CPU")), ("io", ("%IO", "% IO"))):
        column = table.find(*names)
        if "elapsed" in found and column is not None:
            found[ABOUT + key] = _products(found["elapsed"], table.numbers(column, over=100.0))
    for mean in PER_EXECUTION:
        column = table.find(*mean.columns)
        if "executions" in found and column is not None:
            # A mean of 0 ms is one that was rounded to nothing.
            means = [each or None for each in table.numbers(column, by=mean.scale)]
            found[ABOUT + mean.key] = _products(found["executions"], means)
    return found


def _products(left: list[float | None], right: list[float | None]) -> list[float | None]:
    return [None if a is None or b is None else a * b for a, b in zip(left, right, strict=True)]


def sql_texts(table: ReportTable, report: Report) -> bool:
    """The whole texts, of statements that no section listed as well."""
    column, text = table.find(*ID), table.find(*TEXT)
    if column is None or text is None:
        return False
    whole = {name: text for name, text in zip(table.texts(column), table.texts(text), strict=True) if name and text}
    for (_, name), known in report.statements.items():
        if name in whole:
            known["text"] = whole[name]
    return True


def finish(report: Report, spans: Callable[[str | None], Span]) -> None:
    """Rows of `statement`, and statistics of what it has no column for."""
    by_instance = dict[str | None, dict[str, dict[str, object]]]()
    for (instance, name), known in report.statements.items():
        if any(isinstance(value, float) for value in known.values()):
            by_instance.setdefault(instance, {})[name] = known
    for instance, statements in by_instance.items():
        _add_statements(report, spans(instance), statements)
    for instance, statements in by_instance.items():
        _add_statistics(report, spans(instance), statements)
        _add_modules(report, spans(instance), statements)


def _add_statements(report: Report, span: Span, statements: dict[str, dict[str, object]]) -> None:
    texts = (known.get("text") or known.get("short") for known in statements.values())
    row: dict[str, Values] = span.row() | {
        "statement_id": list(statements),
        "text": [scrub(str(text), "oracle") if text else None for text in texts],
        "database": [known.get("database") for known in statements.values()],
    }
    row |= {column: _figures(statements, key, span.seconds) for key, column in COLUMNS.items()}
    report.filled.add("statement", len(statements), row)


def _add_statistics(report: Report, span: Span, statements: dict[str, dict[str, object]]) -> None:
    for key, (name, unit) in STATISTICS.items():
        row = span.row() | {
            "component": "oracle",
            "entity": list(statements),
            "name": name,
            "unit": unit,
            "kind": kind_of(unit),
            "value": _figures(statements, key, span.seconds if unit.endswith("per_s") else 1.0),
        }
        report.filled.add_known("statistic", len(statements), row, "value")


def _add_modules(report: Report, span: Span, statements: dict[str, dict[str, object]]) -> None:
    """Time of the statements of each module; blocks of PL/SQL are left out: their statements are listed themselves."""
    for key, name in MODULES.items():
        sums = dict[str, float]()
        spent = _figures(statements, key, span.seconds)
        for known, value in zip(statements.values(), spent, strict=True):
            text = str(known.get("text") or known.get("short") or "").lstrip().lower()
            if isinstance(module := known.get("module"), str) and value and not text.startswith(BLOCK):
                sums[module] = sums.get(module, 0.0) + value
        row = span.row() | {"component": "oracle", "entity": list(sums), "name": name, "unit": "s_per_s",
                            "kind": kind_of("s_per_s"), "value": list(sums.values())}  # fmt: skip
        report.filled.add_known("statistic", len(sums), row, "value")


def _figures(statements: dict[str, dict[str, object]], key: str, over: float) -> list[float | None]:
    """A figure of each statement, as it is printed or else as it was worked out."""
    about = ABOUT + key
    found = (known.get(key, known.get(about)) for known in statements.values())
    return [value / over if isinstance(value, float) else None for value in found]


SECTIONS: tuple[Section, ...] = (
    Special(r"(Top )?SQL (ordered by|Comparison by)", statements, GIVEN),
    Special(r"Complete List of SQL Text", sql_texts),
)
