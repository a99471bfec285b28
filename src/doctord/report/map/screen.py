"""What is on a screen that shows latency maps while they grow: which of several, and what the keys change."""

from collections.abc import Sequence
from dataclasses import replace

from doctord.analyse.latency.histogram import Histogram
from doctord.analyse.latency.map import LatencyMap
from doctord.report.map.cells import Colours
from doctord.report.map.terminal import Frame, frame, too_small
from doctord.report.map.view import KEYS, View, pressed

FOOT = "  ".join(f"{key} {meaning}" for key, meaning in KEYS.items())


class Screen:
    """The lines of a terminal that shows one of several maps, and what each key changes of it."""

    def __init__(self, view: View, word: str) -> None:
        """Begin with the first map.

        Args:
            view: What of it is looked at first.
            word: What the source is: LIVE, PIPE.
        """
        self.view, self._word, self._chosen = view, word, 0
        self._frozen: LatencyMap | None = None
        self._frame: Frame | None = None

    def lines(
        self, maps: Sequence[tuple[LatencyMap, Histogram]], size: tuple[int, int], colours: Colours
    ) -> Sequence[str]:
        """The lines of the screen for the map that is chosen, each map with what its rows are chosen by."""
        problem = too_small(size)
        if problem or not maps:
            return [problem or "waiting for the first interval; q quits"]
        drawn, whole = maps[self._chosen % len(maps)]
        if not self.view.paused:
            self._frozen = None
        elif self._frozen is None:
            self._frozen = drawn
        state = "PAUSED" if self.view.paused else self._word
        shown = self._frozen or drawn
        self._frame = frame(shown, self.view, size, colours, whole=whole, state=state, foot=[FOOT])
        return self._frame.lines

    def press(self, key: str) -> None:
        """Do what a key says; `q` is for who reads the keys."""
        if key == "n":
            self._chosen, self._frozen = self._chosen + 1, None
            self.view = replace(self.view, cursor=None, back=0, low_us=None, high_us=None)
        elif self._frame:
            self.view = pressed(self.view, key, self._frame.grid, self._frame.older)
