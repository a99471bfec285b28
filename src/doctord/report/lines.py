"""Lines of text for a terminal: wrapped under their labels, with bars of plain characters, never wider than it is."""

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from doctord.printable import printable
from doctord.report.plain import JOINT, clean, together

NARROWEST, WIDEST = 40, 120
WORDS = 16  # columns that words need beside figures

_MEASURE = Console(file=io.StringIO())


def printed(page: Callable[[int], Iterable[Text]], width: int | None, *, colour: bool | None) -> str:
    """A page as text, without a newline at its end.

    Args:
        page: gives the lines for a number of columns.
        width: columns; null takes the terminal's, or 80 when standard output is none. At least 40 and at most 120
            are used: longer lines are hard to read.
        colour: whether to colour; null asks the terminal and the variable NO_COLOR.
    """
    columns = min(max(width or _terminal_width(), NARROWEST), WIDEST)
    coloured = _terminal_colours() if colour is None else colour
    console = Console(
        file=io.StringIO(),
        width=columns,
        color_system="standard" if coloured else None,
        force_terminal=coloured,
        no_color=not coloured,
        legacy_windows=False,
    )
    with console.capture() as capture:
        for line in page(columns):
            line.plain = printable(line.plain)
            console.print(line, soft_wrap=True)
    return capture.get().rstrip("\n")


def one_line(verdict: str, style: str, width: int) -> Text:
    """One line whatever its length: the share comes first, and the title stands again, whole, with its finding."""
    line = Text(verdict, style=style)
    line.truncate(width, overflow="ellipsis")
    return line


def heading(title: str, width: int, note: str = "") -> Iterator[Text]:
    """A title with an empty line above, and a note at the right where there is room for it."""
    yield Text()
    line = Text(title.upper(), style="bold")
    if note and len(title) + len(note) + 2 <= width:
        line.append(" " * (width - len(title) - len(note)) + note, style="not bold")
        yield line
        return
    yield line
    if note:
        yield from hanging("", note, width)


def hashes(share: float | None, length: int, empty: str = " ") -> str:
    """A share as a bar of plain characters; one that is above zero shows at least one."""
    filled = 0 if not share else max(1, round(share * length))
    return ("#" * filled)[:length].ljust(length, empty)


def hanging(label: str, body: str | Text, width: int) -> Iterator[Text]:
    """A paragraph behind a label; its other lines start under its first word."""
    text = Text(clean(body)) if isinstance(body, str) else body.copy()
    indent = cell_len(label)
    text.plain = together(text.plain)
    for i, line in enumerate(text.wrap(_MEASURE, width - indent, overflow="fold")):
        line.rstrip()
        line.plain = line.plain.replace(JOINT, " ")
        yield Text.assemble(" " * indent if i else label, line)


def table(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[Text]:
    """Columns of figures, each as wide as it must be, and a last one of words that takes what is left.

    On a narrow terminal the last figures give way to the words.
    """
    sizes = [max(len(row[column]) for row in (names, *rows)) for column in range(len(names) - 1)]
    while sum(sizes) + 2 * len(sizes) > width - WORDS:
        sizes.pop()
    for number, row in enumerate((names, *rows)):
        label = "".join(f"{clean(cell):>{size}}  " for cell, size in zip(row, sizes, strict=False))
        for line in hanging(label, row[-1], width):
            line.stylize("dim" if number == 0 else "")
            yield line


def _terminal_width() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 80


def _terminal_colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
