"""CSV files of any kind, by a small mapping that says what their columns are: a TOML file that names the CSV beside it.

    [csv]
    file = "waits.csv"           # in the folder of the mapping, or below it
    time = "date"                # column of times; left out: all rows are of the file's last change
    interval_s = 86400           # what a row covers; left out: null

    [[row]]                      # one for each row of the dataset that a line becomes
    table = "wait"
    db = "oracle:DW"             # columns of text: a text, with {COLUMN} for what the line has there
    event = "{event}"
    waits_per_s = "waits"        # columns of figures: the name of the CSV's column, or a number,
    avg_wait_ms = { column = "avg_cs", factor = 10, strip = ["cs", "<"] }   # or both with what is to be done

    [[row]]
    table = "timing"
    run = "{case}"
    duration_s = { column = "took", unit = "h:mm:ss" }     # 05:03:04 are 18184 seconds

`[csv]` also takes `separator` (found in the heading without it) and `decimal` (`,`). A `[[row]]` also takes `where`
(`{ class = "cpu" }`: only lines that have these texts), `ago_s` (the figures are older by so much than the time of the
line), and `interval_s`. A line whose figures are all empty yields no row: what was not measured is not zero. Of `wait`,
the time waited follows from waits and their mean where both are there.
"""

import csv
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, NamedTuple

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import TABLES
from doctord.errors import UserError
from doctord.read.clock import untimed
from doctord.read.format import Rank
from doctord.read.moments import ZONE_ASSUMED, placed_moment
from doctord.read.source import SourceFile, opened
from doctord.regex import regex

NAME = "CSV by a mapping (TOML)"
RANK = Rank.SHAPE
NO_MOMENT = "no date and time of day"
SNIFFED = regex(r"^\[csv\]\s*(?:#.*)?$", re.MULTILINE)
SEPARATORS = ",;\t|"
FIELD = regex(r"\{([^{}]+)\}")
OF_ROW = {"table", "where", "ago_s", "interval_s"}
OF_CSV = {"file", "time", "interval_s", "separator", "decimal"}
OF_FIGURE = {"column", "factor", "strip", "unit"}
CLOCK = "h:mm:ss"
CLOCK_TEXT = regex(r"(\d+):([0-5]\d):([0-5]\d(?:\.\d+)?)")
HINT = "docs/how-to/read-files.md shows a mapping"

Record = Mapping[str, str]


class MappedColumn(NamedTuple):
    """Where a figure comes from, and what is done to it; `is_clock`: it is written as hours, minutes and seconds."""

    column: str
    factor: float = 1.0
    strip: tuple[str, ...] = ()
    is_clock: bool = False

    def of(self, record: Record, decimal: str) -> float | None:
        """The figure of a line; null where it is empty.

        Raises:
            ValueError: it is no number.
        """
        text = record.get(self.column, "").strip()
        for part in self.strip:
            text = text.replace(part, "").strip()
        if not text:
            return None
        plain = text.replace(decimal, ".")
        return (seconds_of(plain) if self.is_clock else float(plain)) * self.factor


class RowMapping(NamedTuple):
    """What a line becomes: texts and figures by the columns of a table."""

    table: str
    where: Record
    ago_s: float
    interval_s: float | None
    texts: Mapping[str, str]
    figures: Mapping[str, MappedColumn | float]

    def fits(self, record: Record) -> bool:
        """Whether a line has the texts that are asked for."""
        return all(record.get(column, "").strip() == text for column, text in self.where.items())

    def row(self, record: Record, at_us: int, decimal: str) -> dict[str, Any] | None:
        """The row of a line; null where none of its figures was measured.

        Raises:
            ValueError: a figure is no number.
        """
        figures = {
            name: figure.of(record, decimal) if isinstance(figure, MappedColumn) else figure
            for name, figure in self.figures.items()
        }
        measured = [figures[name] for name, figure in self.figures.items() if isinstance(figure, MappedColumn)]
        if measured and all(value is None for value in measured):
            return None
        whole = {column.name for column in TABLES[self.table].columns if column.type == "i64"}
        typed = {
            name: round(value) if name in whole and value is not None else value for name, value in figures.items()
        }
        texts = {name: FIELD.sub(lambda found: record.get(found[1], ""), text) for name, text in self.texts.items()}
        at = {"ts": at_us - round(self.ago_s * 1e6), "interval_s": self.interval_s}
        return completed(self.table, {**at, **{name: text or None for name, text in texts.items()}, **typed})


def seconds_of(text: str) -> float:
    """Seconds of hours, minutes and seconds with colons between them; hours may be more than a day's.

    Raises:
        ValueError: it is no such text.

    >>> seconds_of("05:03:04"), seconds_of("100:00:00.5")
    (18184.0, 360000.5)
    """
    found = CLOCK_TEXT.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not of the form {CLOCK}")
    return 3600 * int(found[1]) + 60 * int(found[2]) + float(found[3])


def completed(table: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row of `wait` with the time waited where it follows from how often, and how long each.

    >>> completed("wait", {"waits_per_s": 72.0, "avg_wait_ms": 25.0})["average_active_sessions"]
    1.8
    """
    often, each_ms = row.get("waits_per_s"), row.get("avg_wait_ms")
    if table == "wait" and row.get("average_active_sessions") is None and often is not None and each_ms is not None:
        row["average_active_sessions"] = often * each_ms / 1000
    return row


def sniff(head: str) -> bool:
    """Whether a file that begins so is a mapping."""
    return bool(SNIFFED.search(head)) and "[[row]]" in head


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of the tables that the mapping names.

    Raises:
        UserError: the mapping is none, or its CSV cannot be read.
    """
    mapping = _mapping(source)
    about = _keys(source, mapping.get("csv"), OF_CSV, "[csv]")
    told = mapping.get("row")
    if not isinstance(told, list):
        raise UserError(f"{source.name}: there is no [[row]]", HINT)
    row_mappings = [_row_mapping(source, of, _number(source, about, "interval_s", None)) for of in told]
    held: dict[str, list[dict[str, Any]]] = {}
    for line, record, at_us in _records(source, about):
        for of in row_mappings:
            try:
                row = of.row(record, at_us, str(about.get("decimal", "."))) if of.fits(record) else None
            except (ValueError, OverflowError) as error:
                source.skip(line, f"no figure in the CSV: {error}")
                continue
            if row is not None:
                held.setdefault(of.table, []).append(row)
    for table, found in held.items():
        yield rows(table, found)


def _mapping(source: SourceFile) -> dict[str, Any]:
    try:
        return tomllib.loads(source.content().decode("utf-8-sig").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{source.name}: not a mapping: {error}", HINT) from error


def _keys(source: SourceFile, table: object, known: set[str], what: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise UserError(f"{source.name}: {what} is not a table of keys", HINT)
    if unknown := table.keys() - known:
        raise UserError(
            f"{source.name}: {what} has no key {sorted(unknown)[0]!r}", f"known: {', '.join(sorted(known))}"
        )
    return table


def _row_mapping(source: SourceFile, of: object, interval_s: float | None) -> RowMapping:
    name = of.get("table") if isinstance(of, dict) else None
    if not isinstance(of, dict) or name not in TABLES:
        raise UserError(f"{source.name}: a [[row]] of no table: {name!r}", f"the tables are {', '.join(TABLES)}")
    types = {column.name: column.type for column in TABLES[name].columns if column.name != "ts"}
    _keys(source, of, OF_ROW | types.keys(), f"[[row]] of {name}")
    texts = {key: str(text) for key, text in of.items() if key not in OF_ROW and types[key] == "str"}
    figures = {
        key: _figure(source, key, figure)
        for key, figure in of.items()
        if key not in OF_ROW and types[key] in {"f64", "i64"}
    }
    where = of.get("where", {})
    if not isinstance(where, dict):
        raise UserError(f"{source.name}: where is no table of columns and texts: {where!r}", HINT)
    asked = {str(key): str(text) for key, text in where.items()}
    ago_s = _number(source, of, "ago_s", 0.0) or 0.0
    return RowMapping(name, asked, ago_s, _number(source, of, "interval_s", interval_s), texts, figures)


def _number(source: SourceFile, of: Mapping[str, Any], key: str, default: float | None) -> float | None:
    told = of.get(key, default)
    if told is not None and not isinstance(told, int | float):
        raise UserError(f"{source.name}: {key} is no number: {told!r}", HINT)
    return None if told is None else float(told)


def _figure(source: SourceFile, key: str, told: object) -> MappedColumn | float:
    if isinstance(told, str):
        return MappedColumn(told)
    if isinstance(told, int | float):
        return float(told)
    parts = _keys(source, told, OF_FIGURE, key)
    strip, unit = parts.get("strip", []), parts.get("unit")
    if unit not in (None, CLOCK):
        raise UserError(f"{source.name}: {key}: there is no unit {unit!r}", f'write unit = "{CLOCK}", or a factor')
    stripped = tuple(str(part) for part in (strip if isinstance(strip, list) else [strip]))
    return MappedColumn(str(parts.get("column")), _number(source, parts, "factor", 1.0) or 1.0, stripped, unit == CLOCK)


def _records(source: SourceFile, about: Mapping[str, Any]) -> Iterator[tuple[int, Record, int]]:
    """Lines of the CSV: number, texts by column, and moment."""
    place = PurePath(str(about.get("file", "")))
    if source.path is None or place.is_absolute() or ".." in place.parts or not place.name:
        raise UserError(f"{source.name}: the CSV must lie in the folder of its mapping, or below it", HINT)
    with opened(source.path.parent / place, source.options) as lines:
        texts = (text for _, text in lines.lines())
        heading = next(texts, "")
        separator = str(about.get("separator", max(SEPARATORS, key=heading.count)))[:1] or ","
        names = [name.strip() for name in next(csv.reader([heading], delimiter=separator), [])]
        unplaced = micros(untimed(lines, 1)[0]) if "time" not in about else None
        for number, cells in _cells(source, texts, separator):
            record = dict(zip(names, cells, strict=False))
            at_us = unplaced if unplaced is not None else _moment(source, record.get(str(about["time"]), ""))
            if not any(cells):
                continue
            if at_us is None:
                source.skip(number, NO_MOMENT)
            else:
                yield number, record, at_us
        source.notes += lines.notes
        source.skipped += lines.skipped
        source.skipped_lines += lines.skipped_lines


def _cells(source: SourceFile, texts: Iterator[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Lines below the heading, in their parts; a part in quotes may go over several lines."""
    reader = csv.reader(texts, delimiter=separator)
    try:
        for cells in reader:
            yield reader.line_num + 1, cells
    except csv.Error as error:
        source.skip(reader.line_num + 1, f"the rest of the CSV cannot be read: {error}")


def _moment(source: SourceFile, text: str) -> int | None:
    try:
        moment: datetime | None = datetime.fromisoformat(text.strip())
    except ValueError:
        moment = placed_moment(text, source)
    if moment is not None and moment.tzinfo is None:
        if source.zone is None:
            source.note(ZONE_ASSUMED)
        moment = moment.replace(tzinfo=source.zone or UTC)
    return micros(moment) if moment else None
