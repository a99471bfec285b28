"""Settings that a file of a host lists, as rows: told once, when the file was last written."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from doctord._native import Batch
from doctord.chart.rows import micros, rows
from doctord.read.clock import untimed
from doctord.read.source import Source


@dataclass(frozen=True, slots=True)
class Setting:
    """One value, and the line that has it."""

    name: str
    value: str
    line: int


def setting_rows(source: Source, component: str, settings: Iterable[Setting]) -> Iterator[Batch]:
    """Rows of `setting`; of a name that comes more than once the last counts, which is noted."""
    last = dict[str, Setting]()
    for setting in settings:
        if setting.name in last and last[setting.name].value != setting.value:
            source.note(f"{setting.name} is set more than once: the last value counts")
        last[setting.name] = setting
    if last:
        common = {"ts": micros(untimed(source, 1)[0]), "host": source.host, "component": component}
        common |= {"source_file": source.name}
        yield rows("setting", [common | {"name": s.name, "value": s.value, "line": s.line} for s in last.values()])
