"""Settings that a file of a host lists, as rows: told once, when the file was last written."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import FROM_FILE
from doctord.read.clock import last_written
from doctord.read.source import SourceFile


class Setting(NamedTuple):
    """One value, and the line that has it."""

    name: str
    value: str
    line: int


def setting_rows(source: SourceFile, component: str, settings: Iterable[Setting]) -> Iterator[Batch]:
    """Rows of `setting` in the file's order; of a name that comes more than once the last counts, which is noted."""
    held = list(settings)
    last = dict[str, str]()
    for setting in held:
        if last.get(setting.name, setting.value) != setting.value:
            source.note(f"{setting.name} is set more than once: the last value counts")
        last[setting.name] = setting.value
    if held:
        common = {"ts": micros(last_written(source)), "host": source.host, "component": component}
        common |= {"source": FROM_FILE, "source_file": source.name}
        yield rows("setting", [common | {"name": s.name, "value": s.value, "line": s.line} for s in held])
