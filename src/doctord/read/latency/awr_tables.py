"""Tables of Oracle's reports, from HTML and from text, by the title above them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

HEADING = re.compile(r"<h3\b[^>]*>", re.IGNORECASE)
RULER = re.compile(r"-+(?: +-+)+\s*$")


@dataclass
class Table:
    """A table: its title, the names of its columns, and its rows."""

    title: str
    names: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


class _Rows(HTMLParser):
    """The first table of a piece of HTML. A row of headings only is the names; the last such row counts."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.table = Table(title)
        self.is_over = False
        self._cells = list[str]()
        self._are_names = True
        self._is_in_cell = False

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - as HTMLParser calls it
        if tag == "tr":
            self._cells, self._are_names = [], True
        elif tag in {"td", "th"}:
            self._cells.append("")
            self._are_names &= tag == "th"
            self._is_in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._is_in_cell = False
        elif tag == "table":
            self.is_over = True
        elif tag == "tr" and self._cells and not self.is_over:
            cells = [cell.replace("\xa0", " ").strip() for cell in self._cells]
            if self._are_names:
                self.table.names = cells
            elif self.table.names:
                self.table.rows.append(cells)
            self._cells = []

    def handle_data(self, data: str) -> None:
        if self._is_in_cell and self._cells:
            self._cells[-1] += data


def html_tables(text: str, titled: "re.Pattern[str]") -> Iterator[Table]:
    """The first table below each heading that begins so."""
    headings = [(found.start(), found.end()) for found in HEADING.finditer(text)]
    for (_, begin), (end, _) in pairwise([*headings, (len(text), len(text))]):
        title = text[begin:end].partition("<")[0].strip()
        if titled.match(title):
            parser = _Rows(title)
            parser.feed(text[begin:end])
            yield parser.table


def text_tables(text: str, titled: "re.Pattern[str]") -> Iterator[Table]:
    """The tables below lines that begin so: a ruler of dashes says where the columns are, the line above names them."""
    table, title, above, spans = Table(""), "", "", list[tuple[int, int]]()
    for line in text.splitlines():
        if "DB/Inst:" in line:
            title, spans = line.partition("DB/Inst:")[0].strip(), []
        elif titled.match(title) and RULER.match(line):
            spans = [found.span() for found in re.finditer("-+", line)]
            table = Table(title, _cells(above, spans))
            yield table
        elif not line.strip() or line.lstrip().startswith("---"):
            spans = []
        elif spans:
            table.rows.append(_cells(line, spans))
        above = line


def _cells(line: str, spans: list[tuple[int, int]]) -> list[str]:
    return [line[begin:end].strip() for begin, end in spans]
