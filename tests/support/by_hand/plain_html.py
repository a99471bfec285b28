"""Tables of an HTML report by other means than the reader's: Python's own parser, and figures taken one by one."""

import re
from html.parser import HTMLParser
from pathlib import Path

Rows = list[list[str]]


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, str, Rows]] = []
        self._title = ""
        self._is_title = self._is_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if re.fullmatch("h[1-4]", tag):
            self._title, self._is_title = "", True
        elif tag == "table":
            self.found.append((self._title.strip(), dict(attrs).get("summary") or "", []))
        elif tag == "tr" and self.found:
            self.found[-1][2].append([])
        elif tag in {"td", "th"} and self.found and self.found[-1][2]:
            self.found[-1][2][-1].append("")
            self._is_cell = True

    def handle_endtag(self, tag: str) -> None:
        if re.fullmatch("h[1-4]", tag):
            self._is_title = False
        elif tag in {"td", "th"}:
            self._is_cell = False

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self._title += data
        elif self._is_cell:
            self.found[-1][2][-1][-1] += data


def tables(file: Path) -> list[tuple[str, str, Rows]]:
    """Title, summary and rows of each table, headings among the rows."""
    parser = _Tables()
    parser.feed(file.read_text(errors="replace"))
    return [(title, summary, [[cell.strip() for cell in row] for row in rows]) for title, summary, rows in parser.found]


def section(file: Path, named: str) -> Rows:
    """The rows of the first table whose title or summary begins so."""
    found = (rows for title, summary, rows in tables(file) if title.startswith(named) or named in summary)
    return next(found)


def number(cell: str) -> float:
    """`1,234.5`, `12.3K`, `1.2M`."""
    found = re.fullmatch(r"([\d,]*\.?\d+)([KMGT]?)", cell)
    assert found is not None, cell
    return float(found[1].replace(",", "")) * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[found[2]]


def milliseconds(cell: str) -> float:
    """`353.90us`, `643.07ms`, `1.2s`."""
    found = re.fullmatch(r"([\d,]*\.?\d+)\s*(ns|us|ms|s)", cell)
    assert found is not None, cell
    return float(found[1].replace(",", "")) * {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[found[2]]
