"""The field cases of field_cases.toml: their files as doctord takes them, and windows of data sets as files of dstat.

    from field_cases import all_cases, files_of

Most cases are files. Those of the two data sets in Parquet are windows of runs: `written_as_file` writes one as the CSV
of dstat (`dstat --output`), from which both sets were made, with its usual headings, its units, and times as seconds
since 1970. What dstat has no column for is not handed over: of DBSherlock's 94 statistics, whatever the server told.
"""

import csv
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow.compute as pc
import pyarrow.parquet as pq

CASES: Final = Path(__file__).with_suffix(".toml")
BESIDE: Final = Path(__file__).parents[2] / "shared"
PART: Final = re.compile(r"case=(?P<case>\S+)(?: seconds=(?P<first>\d+)\.\.(?P<last>\d+))?")
STATES: Final = ("sick", "healthy", "cannot_tell")

# DBSherlock's runs have seconds and no date: this is where they begin.
SHERLOCK_BEGAN: Final = datetime(2015, 3, 20, 12, tzinfo=UTC)
MIB: Final = 1024.0 * 1024.0

# Group and column of dstat, the set's column, and what to multiply it with: it divided bytes and requests by 2**20.
SHERLOCK: Final = (
    ("total cpu usage", "usr", "AvgCpuUser", 1.0),
    ("total cpu usage", "sys", "AvgCpuSys", 1.0),
    ("total cpu usage", "idl", "AvgCpuIdle", 1.0),
    ("total cpu usage", "wai", "AvgCpuWai", 1.0),
    ("total cpu usage", "hiq", "AvgCpuHiq", 1.0),
    ("total cpu usage", "siq", "AvgCpuSiq", 1.0),
    *(
        (f"cpu{core - 1} usage", column, f"cpu_{column} (core #{core})", 1.0)
        for core in range(1, 5)
        for column in ("usr", "sys", "idl")
    ),
    ("procs", "run", "osNumberOfProcessesCurrentlyRunning", 1.0),
    ("procs", "new", "osNumberOfProcessesCreated", 1.0),
    ("dsk/total", "read", "osNumberOfSectorReads", MIB),
    ("dsk/total", "writ", "osNumberOfSectorWrites", MIB),
    ("io/total", "read", "osNumberOfReadsIssued", MIB),
    ("io/total", "writ", "osNumberOfWritesCompleted", MIB),
    ("net/total", "recv", "osNetworkRecvKB", 1024.0),
    ("net/total", "send", "osNetworkSendKB", 1024.0),
    ("paging", "in", "osNumberOfSwapInSinceLastBoot", 1.0),
    ("paging", "out", "osNumberOfSwapOutSinceLastBoot", 1.0),
    ("system", "int", "osCountOfInterruptsServicedSinceBootTime", 1.0),
    ("system", "csw", "osNumberOfContextSwitches", 1.0),
    ("virtual memory", "majpf", "osNumberOfMajorPageFaults", 1.0),
    ("virtual memory", "minpf", "osNumberOfMinorPageFaults", 1.0),
    ("sda", "util", "osDiskUtilization", 1.0),
)

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """What an expert says of some files."""

    name: str
    files: tuple[str, ...]
    part: str
    source: str
    state: str
    host_only: bool
    first: tuple[str, ...]
    also: tuple[str, ...]
    never: tuple[str, ...]
    says: str
    why: str
    origin: str = ""


def all_cases(file: Path = CASES) -> list[Case]:
    """All cases of a file in the form of field_cases.toml."""
    told = tomllib.loads(file.read_text(encoding="utf-8"))["case"]
    return [Case(**{key: tuple(it) if isinstance(it, list) else it for key, it in one.items()}) for one in told]


def files_of(case: Case, folder: Path, roots: Mapping[str, Path]) -> list[Path]:
    """The files and folders of a case; what has to be written first is written into the folder.

    `roots` are the folders that stand before the colon in a case's files: corpus, casebook.
    """
    if case.part:
        return written_as_file(case, folder, roots["corpus"])
    return [_place(one, roots) for one in case.files]


def written_as_file(case: Case, folder: Path, corpus: Path = BESIDE / "corpus") -> list[Path]:
    """The rows of a case's window, written into the folder as dstat writes them."""
    part = PART.fullmatch(case.part)
    if part is None:
        raise ValueError(f"{case.name}: part is {case.part!r}: write `case=NAME` or `case=NAME seconds=A..B`")
    source = _place(case.files[0], {"corpus": corpus})
    rows: list[Row] = pq.read_table(source, filters=pc.field("case") == part["case"]).to_pylist()
    if part["first"]:
        rows = [row for row in rows if int(part["first"]) <= row["second"] <= int(part["last"])]
    if not rows:
        raise ValueError(f"{case.name}: no rows of {case.part} in {source}")
    columns, when = _sherlock() if "second" in rows[0] else _dbpa(rows[0])
    to = folder / f"{case.name}.csv"
    folder.mkdir(parents=True, exist_ok=True)
    _write(to, rows, columns, when)
    return [to]


Columns = tuple[tuple[str, str, str, float], ...]
When = Callable[[Row], float]


def _place(named: str, roots: Mapping[str, Path]) -> Path:
    root, _, path = named.partition(":")
    return roots[root] / path


def _sherlock() -> tuple[Columns, When]:
    return SHERLOCK, lambda row: SHERLOCK_BEGAN.timestamp() + row["second"]


def _dbpa(row: Row) -> tuple[Columns, When]:
    """Its columns are dstat's own, GROUP.column, with `_` for blanks."""
    names = [name for name in row if "." in name]
    columns = tuple((name.rpartition(".")[0].replace("_", " "), name.rpartition(".")[2], name, 1.0) for name in names)
    return columns, lambda row: row["time"].replace(tzinfo=UTC).timestamp()


def _write(to: Path, rows: list[Row], columns: Columns, when: When) -> None:
    """Headings and rows; dstat's first row covers the time since boot, so the first of ours is there twice."""
    moments = [when(row) for row in rows]
    every = round(moments[1] - moments[0]) if len(rows) > 1 else 1
    date = datetime.fromtimestamp(moments[0] - every, UTC).strftime("%d %b %Y %H:%M:%S UTC")
    with to.open("w", encoding="utf-8", newline="") as file:
        quoted = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        quoted.writerow(["Dstat 0.7.3 CSV output"])
        quoted.writerow(
            ["Author:", "Dag Wieers <dag@wieers.com>", "", "", "", "URL:", "http://dag.wieers.com/home-made/dstat/"]
        )
        quoted.writerow(["Host:", "field", "", "", "", "User:", "root"])
        quoted.writerow(["Cmdline:", f"dstat -T --output dstat.csv {every}", "", "", "", "Date:", date])
        file.write("\n")
        groups = [group for group, *_ in columns]
        quoted.writerow(["epoch", *(_once(groups))])
        quoted.writerow(["epoch", *(column for _, column, *_ in columns)])
        plain = csv.writer(file, lineterminator="\n")
        for moment, row in zip([moments[0] - every, *moments], [rows[0], *rows], strict=True):
            figures = ("" if row[name] is None else f"{row[name] * factor:.3f}" for *_, name, factor in columns)
            plain.writerow([f"{moment:.3f}", *figures])


def _once(groups: list[str]) -> list[str]:
    """A group stands above its first column only."""
    return [group if at == 0 or groups[at - 1] != group else "" for at, group in enumerate(groups)]
