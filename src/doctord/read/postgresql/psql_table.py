r"""What psql and COPY print of a query: aligned, as CSV, by `|`, `;` or tabs, or one column a line (`\x`)."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Final

from doctord.read.source import SourceFile
from doctord.regex import regex

DELIMITERS: Final = (",", "|", ";", "\t")
RULER: Final = regex(r"-+(?:\+-+)+")
FOOTER: Final = regex(r"\(\d+ \w+\)")
RECORD: Final = regex(r"-\[ RECORD \d+ \]-*(?:\+-*)?")
ENOUGH: Final = 2  # columns without which it is something else

Row = tuple[int, dict[str, str]]


def shape_of(header: str, below: str, needed: frozenset[str]) -> str | None:
    """The character between its columns, `+` for psql's aligned table; null: no table with the columns needed."""
    if RULER.fullmatch(below.strip()) and needed <= {cell.strip() for cell in header.split("|")}:
        return "+"
    for delimiter in DELIMITERS:
        names = cells_of(header, delimiter)
        if len(names) >= ENOUGH and needed <= set(names):
            return delimiter
    return None


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of one line; none where it is no CSV."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def separated(source: SourceFile, names: list[str], lines: Iterable[tuple[int, str]], delimiter: str) -> Iterator[Row]:
    """Rows of CSV and its kin, below the heading; a cell in quotes may go over several lines."""
    at = 0

    def texts() -> Iterator[str]:
        nonlocal at
        for at, text in lines:  # noqa: B007 - the reader asks for a line, and the row needs its number
            yield text + "\n"

    try:
        for cells in csv.reader(texts(), delimiter=delimiter):
            if len(cells) == len(names):
                yield at, dict(zip(names, cells, strict=True))
            elif cells:
                source.skip(at, f"{len(cells)} columns in place of {len(names)}")
    except csv.Error as error:
        source.skip(at, f"no CSV from here on: {error}")


def aligned(source: SourceFile, header: str, ruler: str, lines: Iterable[tuple[int, str]]) -> Iterator[Row]:
    """Rows of psql's aligned table; a value of several lines ends with `+` in all of them but the last."""
    edges = [found.start() for found in re.finditer(r"\+", ruler)]
    names = [cell.strip() for cell in _cells(header, edges)]
    row, begun, is_open = dict[str, str](), 0, False
    for number, text in lines:
        cells = _cells(text, edges)
        if len(cells) != len(names):
            if text.strip():
                source.skip(number, f"{len(cells)} columns in place of {len(names)}")
            continue
        if row and not is_open:
            yield begun, row
            row = {}
        begun = begun if row else number
        is_open = any(cell.endswith("+") for cell in cells[:-1]) or cells[-1].endswith(" +")
        for name, cell in zip(names, cells, strict=True):
            row[name] = " ".join(part for part in (row.get(name, ""), cell.rstrip("+").strip()) if part)
    if row:
        yield begun, row


def expanded(lines: Iterable[tuple[int, str]]) -> Iterator[Row]:
    r"""Rows of `\x`: a line for each column, a ruler with the number of the row before them."""
    row, begun, name = dict[str, str](), 0, ""
    for number, text in lines:
        if RECORD.fullmatch(text.strip()):
            if row:
                yield begun, row
            row, begun = {}, number
        elif "|" in text:
            left, _, value = text.partition("|")
            name = left.strip() or name
            row[name] = " ".join(part for part in (row.get(name, ""), value.rstrip("+").strip()) if part)
    if row:
        yield begun, row


def _cells(text: str, edges: list[int]) -> list[str]:
    if all(text[edge : edge + 1] == "|" for edge in edges):
        begins, ends = [0, *(edge + 1 for edge in edges)], [*edges, len(text)]
        return [text[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return text.split("|")
