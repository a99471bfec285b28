"""A latency map on the whole screen while it grows, and the keys that change it."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol

from doctord.analyse.latency.histogram import Histogram
from doctord.analyse.latency.map import LatencyMap
from doctord.report.map.printed import colours, size
from doctord.report.map.screen import Screen
from doctord.report.map.view import View

LOOK_S = 0.25
NAMES = {
    b" ": "space",
    b"\x1b[A": "up",
    b"\x1b[B": "down",
    b"\x1b[C": "right",
    b"\x1b[D": "left",
    b"\x1bOA": "up",
    b"\x1bOB": "down",
    b"\x1bOC": "right",
    b"\x1bOD": "left",
    b"\x1b[H": "home",
    b"\x1b[F": "end",
    b"\x1b[1~": "home",
    b"\x1b[4~": "end",
    b"\x03": "q",
    b"\x1b": "q",
}


class Watched(Protocol):
    """Maps that grow while they are shown: of a live source, a pipe, or a replay."""

    def grown(self) -> bool:
        """Look for what is new; whether anything is."""
        ...

    def maps(self) -> Sequence[tuple[LatencyMap, Histogram]]:
        """The maps so far, each with what its rows are chosen by."""
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
    with _keyboard() as keys, _whole_screen():
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


class _Keys:
    """The keyboard of standard input."""

    def __init__(self, descriptor: int) -> None:
        """Read from a terminal that gives each key at once."""
        self._descriptor, self._waiting = descriptor, b""

    def pressed(self, wait_s: float) -> str | None:
        """Name of the next key (`left`, `space`, or the character itself); null when none came in time."""
        if not self._waiting:
            if not select.select([self._descriptor], [], [], max(wait_s, 0.0))[0]:
                return None
            self._waiting = os.read(self._descriptor, 256) or b"q"
        # The longest first: an escape sequence begins with the escape key. What is none is a character.
        key = next((key for key in sorted(NAMES, key=len, reverse=True) if self._waiting.startswith(key)), None)
        pressed, self._waiting = self._waiting[: len(key or b" ")], self._waiting[len(key or b" ") :]
        return NAMES[key] if key else pressed.decode(errors="replace")


@contextmanager
def _keyboard() -> Iterator[_Keys]:
    """The keys of the terminal, until the end of the block; it is left as it was.

    Standard input, or the process's own terminal when that is a pipe.
    """
    with ExitStack() as stack:
        descriptor = sys.stdin.fileno()
        if not sys.stdin.isatty():
            descriptor = os.open("/dev/tty", os.O_RDONLY)
            stack.callback(os.close, descriptor)
        stack.callback(termios.tcsetattr, descriptor, termios.TCSADRAIN, termios.tcgetattr(descriptor))
        tty.setcbreak(descriptor)
        yield _Keys(descriptor)
