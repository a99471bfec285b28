"""A latency map on the whole screen while it grows, and the keys that change it."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

from doctord.analyse.latency.map import LatencyMap
from doctord.app.map_feed import Maps
from doctord.cli._keys import Keys, keyboard
from doctord.cli._map import colours, size
from doctord.cli.arguments import Refusal
from doctord.report.map_terminal import Frame, frame, too_small
from doctord.report.map_view import KEYS, View, pressed

LOOK_S = 0.25
FOOT = "  ".join(f"{key} {meaning}" for key, meaning in KEYS.items())


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


def watch(source: Watched, view: View, word: str) -> None:
    """Show maps on the whole screen, and follow the keys, until `q`, Ctrl-C, or the source is over.

    Args:
        source: Gives the maps.
        view: What of the map is looked at first.
        word: What the source is: live, replay.
    """
    with keyboard() as keys, _whole_screen():
        screen = _Screen(view, word)
        while not source.is_over():
            if source.grown() or screen.stale():
                screen.draw(source.maps())
            if not screen.follow(keys, source.maps()):
                return


class _Screen:
    """What is on the screen, and which map of several."""

    def __init__(self, view: View, word: str) -> None:
        self._view, self._word, self._chosen = view, word, 0
        self._frozen: LatencyMap | None = None
        self._frame: Frame | None = None
        self._size: tuple[int, int] | None = None

    def stale(self) -> bool:
        """Whether the terminal changed its size, or nothing was drawn yet."""
        return self._size != size(self._view)

    def draw(self, maps: Maps) -> None:
        """Draw the map that is chosen."""
        self._size = size(self._view)
        problem = too_small(self._size)
        if problem or not maps:
            _show([problem or "waiting for the first interval; q quits"])
            return
        drawn, whole = maps[self._chosen % len(maps)]
        if not self._view.paused:
            self._frozen = None
        elif self._frozen is None:
            self._frozen = drawn
        state = "PAUSED" if self._view.paused else self._word
        self._frame = frame(
            self._frozen or drawn, self._view, self._size, colours(), whole=whole, state=state, foot=[FOOT]
        )
        _show(self._frame.lines)

    def follow(self, keys: Keys, maps: Maps) -> bool:
        """Wait a moment for a key and do what it says; false for the end."""
        key = keys.pressed(LOOK_S)
        if key == "q":
            return False
        if key == "n":
            self._chosen, self._frozen = self._chosen + 1, None
            self._view = replace(self._view, cursor=None, back=0, low_us=None, high_us=None)
        elif key and self._frame:
            self._view = pressed(self._view, key, self._frame.grid, self._frame.older)
        if key:
            self.draw(maps)
        return True


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


class Replay:
    """A recorded map that is shown as it grew, at a speed."""

    def __init__(self, drawn: LatencyMap, speed: float) -> None:
        """Begin with the first column."""
        self._drawn, self._speed, self._began_s = drawn, speed, time.monotonic()
        self._whole, self._shown = drawn.whole, 0

    def grown(self) -> bool:
        """Go on to the columns that are due; whether there are new ones."""
        columns = self._drawn.columns
        gone = timedelta(seconds=(time.monotonic() - self._began_s) * self._speed)
        due = sum(column.end - columns[0].end <= gone for column in columns)
        grew, self._shown = due > self._shown, due
        return grew

    def is_over(self) -> bool:
        """Never: the end of the recording stays on the screen until the user leaves it."""
        return False

    def maps(self) -> Maps:
        """The map so far."""
        return [(replace(self._drawn, columns=self._drawn.columns[: self._shown]), self._whole)]


def replay(drawn: LatencyMap, view: View, speed: float) -> None:
    """Show a map as it grew, on a terminal.

    Raises:
        Refusal: standard input or output is no terminal, or there is no such speed.
    """
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        raise Refusal("a replay needs a terminal", "leave out --replay to print the map")
    if speed <= 0:
        raise Refusal(f"{speed:g} is no speed", "1 is as it was, 60 shows an hour in a minute")
    shown = Replay(drawn, speed)
    watch(shown, view, f"REPLAY x{speed:g}")
