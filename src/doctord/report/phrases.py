"""Phrases in words: the one place where a finding's numbers become text."""

from datetime import datetime

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Phrase, Value, Words, figures, places
from doctord.units import duration, in_bytes, in_latency, in_rate, in_share, in_time, number

TIME_OF = {
    "database": "database time",
    "processes": "process time",
    "pass": "each pass",
    "busy": "busy time",
    "interval": "the time looked at",
    "transactions": "the transactions",
    "statements": "the statements",
}
# From here on nobody counts seconds: 259,204 s is 3 d.
LONG_S = 120.0
_DIRECTION = {"at_least": "at least ", "at_most": "at most ", None: ""}


def said(words: Words) -> str:
    """A phrase as text, each value in the form of its place (see `diagnose.phrase.phrase`); a plain text as it is."""
    if isinstance(words, str):
        return words
    return "".join(literal + ("" if spec is None else _shown(value, spec)) for literal, spec, value in places(words))


def threshold(item: Evidence) -> str:
    """What a figure was held against, and on which side of it the figure speaks for the cause; may be empty."""
    return f"{_DIRECTION[item.direction]}{said(item.threshold)}" if item.threshold else ""


def says_share(words: Words, of: str) -> bool:
    """Whether a share of this time (`time_of` of a finding or diagnosis) is said."""
    return any(spec == f"share of {of}" for _, spec in figures(words))


def time(of: str) -> str:
    """Whose time it is, in words.

    >>> time("database"), time("guest")
    ('database time', 'guest time')
    """
    return TIME_OF.get(of, f"{of} time")


def _shown(value: Value, spec: str) -> str:
    if isinstance(value, str | Phrase):
        return said(value)
    if value is None:
        return "unknown"
    return f"{value:{spec}}" if isinstance(value, datetime) else _number(value, spec)


def _number(value: float, spec: str) -> str:
    name, _, rest = spec.partition(" ")
    match name:
        case "share":
            shown, rest = in_share(value), rest and f"of {time(rest.removeprefix('of '))}"
        case "bytes" | "bytes/s":
            shown = in_bytes(value) + name.removeprefix("bytes")
        case "time":
            shown = in_time(value) if abs(value) < LONG_S else duration(value)
        case "duration":
            shown = duration(value)
        case "latency":
            shown = in_latency(value, 2)
        case "count":
            shown, rest = f"{value:.0f}", rest.split("/")[value != 1]
        case "rate":
            shown, rest = in_rate(value, rest), ""
        case _ if rest == "s" and value >= LONG_S:
            shown, rest = duration(value), ""
        case _:
            shown = f"{value:{name}}"
            shown = number(value) if "e" in shown else shown
    return f"{shown} {rest}" if rest else shown
