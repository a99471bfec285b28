"""Colours of latency maps: from few to many, blue for counts and red for time, as in OraLatencyMap and PyLatencyMap."""

from collections.abc import Sequence

Rgb = tuple[int, int, int]

# ColorBrewer's sequential Blues and YlOrRd of nine classes (C. Brewer, M. Harrower, 2003), which keep their order for
# the colour-blind and in print. The lightest is left out: it cannot be told from white paper.
BLUE: Sequence[Rgb] = (
    (222, 235, 247),
    (198, 219, 239),
    (158, 202, 225),
    (107, 174, 214),
    (66, 146, 198),
    (33, 113, 181),
    (8, 81, 156),
    (8, 48, 107),
)
RED: Sequence[Rgb] = (
    (255, 237, 160),
    (254, 217, 118),
    (254, 178, 76),
    (253, 141, 60),
    (252, 78, 42),
    (227, 26, 28),
    (189, 0, 38),
    (128, 0, 38),
)
# The same on xterm's 256 colours.
BLUE_256: Sequence[int] = (195, 189, 153, 117, 75, 33, 27, 18)
RED_256: Sequence[int] = (230, 229, 222, 215, 209, 202, 160, 88)
# Without colour: from few to many, each darker than the one before.
SHADES = ".:-=+*%#@"[:8]


def level(share: float, levels: int) -> int:
    """Which of so many colours a share (above 0, to 1) of the largest value gets, 0 the lightest."""
    return min(int(share * levels), levels - 1)


def colour(palette: Sequence[Rgb], share: float) -> Rgb:
    """The colour of a share (0 to 1) of the largest value, evenly between the palette's own."""
    place = min(max(share, 0.0), 1.0) * (len(palette) - 1)
    below = min(int(place), len(palette) - 2)
    part = place - below
    low, high = palette[below], palette[below + 1]
    return (_between(low[0], high[0], part), _between(low[1], high[1], part), _between(low[2], high[2], part))


def _between(low: int, high: int, part: float) -> int:
    return round(low + (high - low) * part)
