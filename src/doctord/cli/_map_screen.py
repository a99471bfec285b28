"""A latency map on the whole screen while it grows, and the keys that change it."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from doctord.app.map_feed import Maps
from doctord.cli._keys import keyboard
from doctord.report.map_printed import colours, size
from doctord.report.map_screen import Screen
from doctord.report.map_view import View

LOOK_S = 0.25


class Watched(Protocol):
    """Maps that grow."""

    def grown(self) -> bool:
        """Look for what is new; whether anything is."""
        ...

    def maps(self) -> Maps:
        """The maps so far."""
        ...

    def is_over(self) -> bool:
        """Whether the source has ended."""
        ...


def has_terminal() -> bool:
    """Whether somebody sees what happens, and can press keys."""
    return sys.stdout.isatty() and sys.stdin.isatty()


def watch(source: Watched, view: View, word: str) -> None:
    """Show maps on the whole screen, and follow the keys, until `q`, Ctrl-C, or the source is over.

    Args:
        source: Gives the maps.
        view: What of the map is looked at first.
        word: What the source is: live, replay.
    """
    with keyboard() as keys, _whole_screen():
        screen, shown_at = Screen(view, word), None
        while not source.is_over():
            if source.grown() or shown_at != size(screen.view):
                shown_at = size(screen.view)
                _show(screen.lines(source.maps(), shown_at, colours()))
            key = keys.pressed(LOOK_S)
            if key == "q":
                return
            if key:
                screen.press(key)
                shown_at = size(screen.view)
                _show(screen.lines(source.maps(), shown_at, colours()))


def _show(lines: Sequence[str]) -> None:
    sys.stdout.write("\x1b[H" + "".join(f"{line}\x1b[K\r\n" for line in lines[:-1]) + f"{lines[-1]}\x1b[K\x1b[J")
    sys.stdout.flush()


@contextmanager
def _whole_screen() -> Iterator[None]:
    """The terminal's other screen without a cursor, and back again."""
    sys.stdout.write("\x1b[?1049h\x1b[?25l")
    try:
        yield
    finally:
        sys.stdout.write("\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()
