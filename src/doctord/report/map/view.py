"""What of a latency map is looked at, and how the keys change that."""

from dataclasses import dataclass, replace

from doctord.report.map.grid import Grid, Scale

SCALES: tuple[Scale, ...] = ("root", "log", "linear")
# What the keys do, for the line at the foot of a live map and for the documentation.
KEYS = {
    "space": "pause",
    "arrows": "cursor, back in time",
    "s": "scale",
    "p": "percentiles",
    "< >": "fewer, more latencies",
    "n": "next subject",
    "q": "quit",
}
PAGE = 10


@dataclass(frozen=True, slots=True)
class View:
    """What is chosen.

    `back` is how many columns the newest one shown lies before the newest there is. The cursor is a column, counted
    from the right end of what is shown, and a row, counted from the lowest. `low_us` and `high_us` bound the latencies.
    """

    rows: int | None = None
    columns: int | None = None
    scale: Scale = "root"
    percentiles: bool = False
    threshold_us: float | None = None
    low_us: float | None = None
    high_us: float | None = None
    back: int = 0
    cursor: tuple[int, int] | None = None
    paused: bool = False


def pressed(view: View, key: str, shown: Grid, older: int) -> View:
    """The view after a key.

    Args:
        view: As it was.
        key: `space`, `left`, `right`, `up`, `down`, `home`, `end`, `s`, `p`, `<`, `>`; others change nothing.
        shown: The cells on the screen.
        older: How many columns there are before those on the screen.
    """
    match key:
        case "space":
            return replace(view, paused=not view.paused, back=0, cursor=None)
        case "s":
            return replace(view, scale=SCALES[(SCALES.index(view.scale) + 1) % len(SCALES)])
        case "p":
            return replace(view, percentiles=not view.percentiles)
        case "<" | ">":
            return _ranged(view, shown, narrower=key == "<")
        case "left" | "right" | "up" | "down" | "home" | "end":
            return _moved(view, key, shown, older)
    return view


def _moved(view: View, key: str, shown: Grid, older: int) -> View:
    """The cursor moved; at the left or right end of the screen, time is."""
    if key in {"home", "end"}:
        return replace(view, back=view.back + older if key == "home" else 0)
    if view.cursor is None:
        return replace(view, cursor=(0, len(shown.rows) // 2), paused=True)
    column, row = view.cursor
    match key:
        case "up":
            row = min(row + 1, len(shown.rows) - 1)
        case "down":
            row = max(row - 1, 0)
        case "left" if column < len(shown.columns) - 1:
            column += 1
        case "left":
            return replace(view, back=view.back + min(PAGE, older))
        case "right" if column > 0:
            column -= 1
        case "right":
            return replace(view, back=max(view.back - PAGE, 0))
    return replace(view, cursor=(column, row))


def _ranged(view: View, shown: Grid, *, narrower: bool) -> View:
    """The bucket range without its highest row and its lowest, or all of it again."""
    if not narrower or len(shown.rows) < 4:
        return replace(view, low_us=None, high_us=None, cursor=None)
    finite = [row for row in shown.rows if row.le_us < float("inf")]
    return replace(view, low_us=finite[1].gt_us, high_us=finite[-2].le_us, cursor=None)
