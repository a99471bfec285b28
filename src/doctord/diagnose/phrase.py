"""Phrases: what is said of a case, with its figures as numbers until somebody shows them."""

import string
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

__all__ = ["Phrase", "Words", "figures", "format_of", "listed", "phrase", "place_in", "places", "unit_of"]

_UNITS = {
    "share": "share",
    "bytes": "bytes",
    "bytes/s": "bytes/s",
    "time": "s",
    "duration": "s",
    "latency": "s",
    "rate": "per_s",
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words with places for values, as `phrase` takes them."""

    words: str
    values: "tuple[Value, ...]"

    def __str__(self) -> str:
        """Nothing: text is made in report alone, and a phrase within words is a value of another phrase."""
        raise TypeError(f"a phrase is no text yet: {self!r}")


Words: TypeAlias = str | Phrase
Value: TypeAlias = Words | float | datetime | None


def phrase(words: str, *values: Value) -> Phrase:
    """Words with a place for each value, which says as what it is shown.

    The places are: `{:share}` (0.34 as 34 %), `{:share of database}` (34 % of database time; also `pass`, `busy`, and
    what else a diagnosis' `time_of` says), `{:bytes}`, `{:bytes/s}`, `{:time}` (seconds), `{:latency}` (seconds, in two
    digits), `{:duration}` (seconds, in their two largest units), `{:rate}` (so many a second) and `{:rate commits}`,
    `{:count session/sessions}` (1 session, 2 sessions); a number's format with its unit, `{:.1f ms}`, or without,
    `{:.0f}`; a format of `strftime` for a time; `{}` for a text, a whole number, another phrase, or what is not known.

    >>> phrase("{:share of database} waits for {}", 0.86, "row locks").values
    (0.86, 'row locks')
    """
    return Phrase(words, values)


def places(said: Phrase) -> Iterator[tuple[str, str | None, Value]]:
    """Each stretch of words, with the format and the value that follow it; null for the format where none follows."""
    values = iter(said.values)
    for literal, place, spec, _ in string.Formatter().parse(said.words):
        yield literal, spec, "" if place is None else next(values)


def figures(said: Words) -> Iterator[tuple[float, str]]:
    """The numbers of a phrase, each with its format, in the order in which they are said."""
    if isinstance(said, str):
        return
    for _, spec, value in places(said):
        if isinstance(value, Phrase):
            yield from figures(value)
        elif isinstance(value, int | float):
            yield float(value), spec or ""


def listed(*parts: Words, by: str = ", ") -> Phrase:
    """Phrases one after the other, with a comma or other words between them; what is empty is left out.

    >>> listed("one", "", "two").words
    '{}, {}'
    """
    told = [part for part in parts if (part if isinstance(part, str) else part.words)]
    return Phrase(by.join("{}" for _ in told), tuple(told))


def format_of(words: str) -> str:
    """The format of the first place in words, empty where it has none.

    >>> format_of("busy {:.0f %} of the time")
    '.0f %'
    """
    return next((spec or "" for _, place, spec, _ in string.Formatter().parse(words) if place is not None), "")


def place_in(number: str, unit: str) -> str:
    """A place for a value in a unit that a file names: its brackets, which would end the place, are left out.

    >>> place_in(".3g", "ms"), place_in(".3g", "{a}"), place_in(".3g", "")
    ('{:.3g ms}', '{:.3g a}', '{:.3g}')
    """
    told = unit.translate({ord("{"): None, ord("}"): None})
    return f"{{:{number} {told}}}" if told else f"{{:{number}}}"


def unit_of(spec: str) -> str:
    """The unit of a value shown by a format: share (0 to 1), bytes, s, per_s, else as it is written; may be empty.

    >>> [unit_of(spec) for spec in ("share of database", "rate commits", "count disk/disks", ".1f ms", ".0%")]
    ['share', 'commits per s', 'disks', 'ms', 'share']
    """
    name, _, rest = spec.partition(" ")
    if name == "rate" and rest:
        return f"{rest} per s"
    if name == "count":
        return rest.rpartition("/")[2]
    return _UNITS.get(name, "share" if name.endswith("%") else rest)
