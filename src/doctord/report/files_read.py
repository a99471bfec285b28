"""What files held: a JSON document, and the same to be read on a terminal."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import polars as pl
from rich.text import Text

from doctord.app.read import Kept
from doctord.dataset.arrow import polars_frame, polars_series
from doctord.dataset.tables import LASTING
from doctord.read.gather import FileRead
from doctord.report.lines import hanging, printed

HINT = "hint: "


def document(files: Iterable[FileRead], kept: Kept) -> dict[str, Any]:
    """What `doctord read --json` gives: docs/reference/read.md.

    Args:
        files: What each file held, as it is read: its rows are let go with it.
        kept: What of them was kept in a lake, once all are read.
    """
    held = [_file_document(file) for file in files]
    return {"files": held, "lake": str(kept.lake) if kept.lake else None, "kept": kept.rows}


def _file_document(file: FileRead) -> dict[str, Any]:
    since, until = _span(file)
    return {
        "file": file.name,
        "format": file.format,
        "rows": {name: table.num_rows for name, table in sorted(file.tables.items())},
        "since": since and since.isoformat(),
        "until": until and until.isoformat(),
        "hosts": _names(file, "host"),
        "dbs": _names(file, "db"),
        "skipped_lines": file.skipped_lines,
        "skipped": [{"line": skipped.line or None, "reason": skipped.reason} for skipped in file.skipped],
        "notes": list(file.notes),
        "error": file.refusal and {"message": file.refusal[0], "hint": file.refusal[1]},
    }


def render(document: Mapping[str, Any], width: int | None = None, *, colour: bool | None = None) -> str:
    """The document of `doctord read` as lines of text."""
    return printed(lambda columns: _page(document, columns), width, colour=colour)


def _page(document: Mapping[str, Any], width: int) -> Iterator[Text]:
    for file in document["files"]:
        yield from hanging("", file["file"], width)
        yield from _file(file, width)
    files = document["files"]
    read = sum(1 for file in files if file["error"] is None)
    rows = sum(sum(file["rows"].values()) for file in files)
    skipped = sum(file["skipped_lines"] for file in files)
    total = f"{read} of {_count(len(files), 'file')} read: {_count(rows, 'row')}, {_count(skipped, 'line')} skipped"
    yield from hanging("", total, width)
    if document["lake"]:
        new = sum(document["kept"].values())
        yield from hanging("", f"{_count(new, 'row')} new in {document['lake']}", width)


def _file(file: Mapping[str, Any], width: int) -> Iterator[Text]:
    if file["error"]:
        # It begins with the name, which stands above.
        yield from hanging("  not read: ", file["error"]["message"].removeprefix(file["file"]).lstrip(": "), width)
        if file["error"]["hint"]:
            yield from hanging(f"  {HINT}", file["error"]["hint"], width)
        return
    since, until = ((file[end] or "")[:19].replace("T", " ") for end in ("since", "until"))
    span = f"{since} to {until} UTC" if since != until else f"{until} UTC"
    yield from hanging("  ", ", ".join((file["format"], span, *file["dbs"], *file["hosts"])), width)
    yield from hanging("  ", ", ".join(f"{table} {count:,}" for table, count in file["rows"].items()), width)
    for note in file["notes"]:
        yield from hanging("  note: ", note, width)
    for skipped in file["skipped"]:
        where = f"line {skipped['line']}: " if skipped["line"] else ""
        yield from hanging("  skipped: ", where + skipped["reason"], width)


def _span(file: FileRead) -> tuple[datetime | None, datetime | None]:
    """From when to when; what was told once, and then holds, does not count unless there is nothing else."""
    tables = {name: table for name, table in file.tables.items() if name not in LASTING} or file.tables
    starts, ends = list[datetime](), list[datetime]()
    for table in tables.values():
        frame = polars_frame(table.select(["ts", "interval_s"]))
        length = pl.duration(microseconds=pl.col("interval_s").fill_null(0) * 1_000_000)
        low, high = frame.select((pl.col("ts") - length).min(), pl.col("ts").max().alias("high")).row(0)
        starts += [low] if low is not None else []
        ends += [high] if high is not None else []
    return min(starts, default=None), max(ends, default=None)


def _names(file: FileRead, column: str) -> list[str]:
    tables = (table for table in file.tables.values() if column in table.column_names)
    names = {name for table in tables for name in polars_series(table[column]).unique(maintain_order=True).drop_nulls()}
    return sorted(names)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
