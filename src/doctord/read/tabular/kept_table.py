"""Tables of figures by name, as people keep them in CSV, without a mapping: what a column is, its heading says.

One column says whom a row is about: `event` (wait events), `statistic`, `setting` or `parameter`, `tablespace`,
`datafile`, or of a test `run`, `case`, `step`, `class` and the like; of a sweep over queue depths the first, `iodepth`.
The others hold figures, with their units in the heading (`before_avg_ms`, `used_mb`, `iops_per_day`) or in the cell
(`12ms`, `30%`, `500M`, `1 per 7 minutes`).

- `wait`: waits per second or in sum, time waited, mean wait, by `date` or as they are. The server is known by its
  events (`oracle`). `d90_cs`, `d7_cs`, `today_cs` are means of so many days ago.
- `statistic`: figures by name. Names of V$SYSSTAT are of component `oracle` and get that view before them; other
  figures are of component `noted`; those of runs and cases, of datafiles, of `workload` and `datafile`.
- `setting`: what is set; names that a vendor knows are of its component, others of `noted`.
- `space`: used and available bytes of tablespaces. `timing`: runs with how long they took (`h:mm:ss` too), and how many
  of their requests went over a limit.
- A column `target`, `threshold`, `limit` or `goal` holds what the keeper wants at the most: rows of `statistic`,
  component `target`, under the name of the figure, whose entity is that of the wait event.

Of a table with two states (`before` and `after`) the first is read, and a note says so; `doctord study` reads both.
Without dates all rows are of the file's last change. A cell without a figure was not measured, and is not zero.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import rows
from doctord.dataset.tables import NOTED
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.tabular.kept_headings import heading, plain, subject_of
from doctord.read.tabular.kept_lines import Table, cells_of, lines_of, separator_of
from doctord.read.tabular.kept_rows import READERS, censored, column_of_wait
from doctord.read.tabular.kept_value import value_of
from doctord.regex import regex

NAME = "tables of figures by name (CSV)"
RANK = Rank.SHAPE
NAMED: Final = regex(r"\s*\w[\w .%/#()<>=-]{0,39}\s*")
# A table with these is another format's, or a series in time.
NOT_OURS: Final = frozenset({"ts", "time", "timestamp", "name", "pid"})
OTHER_STATE: Final = "of two states the first is read ({}), the other left: {}"
BOUNDS: Final = "bounds and no values, left out: {}"
NO_CPU: Final = "no CPU time is among its waits: shares are of the time that was waited"


def sniff(head: str) -> bool:
    """Whether its first line names whom rows are about, and the second has a figure of it."""
    lines = [line for line in head.lstrip("\ufeff").splitlines()[:20] if line.strip()][:2]
    if len(lines) < 2:
        return False
    separator = separator_of(lines[0])
    names, cells = cells_of(lines[0], separator), cells_of(lines[1], separator)
    found = subject_of(names)
    if found is None or len(cells) != len(names) or len(names) < 2 or not all(NAMED.fullmatch(name) for name in names):
        return False
    if NOT_OURS & {plain(name) for name in names} or len(set(names)) < len(names):
        return False
    table = Table(*found, [heading(name) for name in names])
    if table.about == "wait":
        return any(column_of_wait(one) for _, one in table.of("own"))
    if table.about == "tablespace":
        return any(one.unit == "bytes" for _, one in table.of("own"))
    return table.about == "setting" or any(value_of(cells[at].strip()) for at, _ in table.of("own"))


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `wait`, `statistic`, `setting`, `space` or `timing`."""
    first = next((line for line in source.head.lstrip("\ufeff").splitlines() if line.strip()), "")
    names = cells_of(first, separator_of(first))
    found = subject_of(names)
    if found is None:
        return
    table = Table(*found, [heading(name) for name in names])
    source.has_states = table.has_states and any(one.state == "other" for one in table.headings)
    if source.options.state == "after" and source.has_states:
        table = replace(table, state="other")
    lines = list(lines_of(source, table, separator_of(first)))
    table = replace(table, names=tuple(line.cells[table.subject].lower() for line in lines))
    if source.options.state is None and (other := [one.text for _, one in table.of("other")]):
        source.note(OTHER_STATE.format(", ".join(one.text for _, one in table.of("own")), ", ".join(other)))
    held: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        for name, row in READERS[table.about](table, line):
            held.setdefault(name, []).append({"ts": line.at_us, "host": source.host} | row)
    if ended := censored(table, lines):
        source.note(BOUNDS.format(", ".join(ended)))
    if "wait" in held and not any(row["event"] == "CPU" for row in held["wait"]):
        source.note(NO_CPU)
    for row in held.get("setting", ()):
        row |= {"source": NOTED, "source_file": source.name}
    for name, of_table in held.items():
        yield rows(name, of_table)
