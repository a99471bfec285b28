"""`kubectl top pod` (also `--containers`, `-A`) and `kubectl top node`.

Table: `statistic` (component `kubernetes`, the entity being the node, or namespace, pod and container as far as they
are told): `kubectl.cpus` (CPUs in use), `kubectl.memory_bytes` (the working set), and of nodes `kubectl.cpu_pct` and
`kubectl.memory_pct` of what pods may have. They are means of the metrics server's last interval, some 15 to 60 s; the
text tells no times.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from doctord._native import Batch
from doctord.read.containers.usage import NOT_MEASURED, size_bytes
from doctord.read.figures import number as number_of
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tools.headed_tables import NO_FIGURES, HeadedRow, headed_rows, reports_of
from doctord.read.tools.report import Line, Report, placed

NAME = "kubectl top"
RANK = Rank.NAMED
LOOKED_AT: Final = 20
NEEDED: Final = {"CPU(cores)", "MEMORY(bytes)"}
WHOSE: Final = ("NAMESPACE", "POD", "NAME")
SHARES: Final = {"CPU%": "cpu_pct", "CPU(%)": "cpu_pct", "MEMORY%": "memory_pct", "MEMORY(%)": "memory_pct"}
OF_A_CPU: Final = {"m": 1e-3, "u": 1e-6, "n": 1e-9}
UNKNOWN: Final = "<unknown>"


def sniff(head: str) -> bool:
    """Whether a heading of kubectl top is among its first lines."""
    return any(map(_heading, head.splitlines()[:LOOKED_AT]))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic` and `event`."""
    return placed(reports(source.lines(), source), source)


def reports(lines: Iterable[Line], source: SourceFile, day: date | None = None) -> Iterator[Report]:
    """Each look at pods or nodes: another begins with a heading or a moment."""
    return reports_of(headed_rows(lines, source, day, _heading, since_boot=False), _take, source)


def _heading(line: str) -> tuple[str, list[str]] | None:
    words = line.split()
    return ("top", words) if {*words} >= NEEDED and words[0] in WHOSE else None


def _take(row: HeadedRow) -> None:
    """Put a line into its report.

    Raises:
        ValueError: it is none.
    """
    told = dict(zip(row.names, row.words, strict=True))
    whose = [told[name] for name in row.names if name not in NEEDED and name not in SHARES]
    figures = {"cpus": _cpus(told["CPU(cores)"]), "memory_bytes": size_bytes(told["MEMORY(bytes)"])}
    figures |= {name: number_of(told[column].rstrip("%")) for column, name in SHARES.items() if column in told}
    if UNKNOWN not in row.words and None in figures.values():
        raise ValueError(NO_FIGURES)
    for name, value in figures.items():
        row.report.statistic("kubernetes", f"kubectl.{name}", value, name.rpartition("_")[2], entity=" ".join(whose))
    if row.report and not row.report.figure("event", "subject"):
        row.report.row("event", NOT_MEASURED)


def _cpus(text: str) -> float | None:
    """CPUs, of which a letter tells thousandths and less."""
    value = number_of(text.rstrip("".join(OF_A_CPU)))
    return None if value is None else value * OF_A_CPU.get(text[-1:], 1.0)
