"""A measure: one figure of one period, whom it is about, and which way is better."""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from doctord.analyse.study.samples import Samples
from doctord.regex import regex

Kind: TypeAlias = Literal["time", "wait", "run", "class", "statement", "call", "figure"]
Better: TypeAlias = Literal["low", "high"]

# Units of time, which are better low; and words of figures that are so too, whatever their unit.
_TIMES: Final = frozenset({"s", "ms", "us", "ns"})
_LONG: Final = regex(r"\b(?:elapsed|latency|lat|response|duration|waits?|over limit)\b")
_BAD: Final = regex(
    r"\b(?:timeouts?|failed|failures?|errors?|retries|involuntary|deadlocks?|retransmits?|drops|overflows)\b"
)
_GOOD: Final = regex(r"\b(?:throughput|bandwidth|bw|iops|tps|qps|commits?|transactions|queries)\b")


class Key(NamedTuple):
    """What makes a measure of one period that of another: its kind, its name, and whom it is about (may be empty)."""

    kind: Kind
    name: str
    of: str = ""


@dataclass(frozen=True, eq=False)
class Measure:
    """One figure of one period.

    Attributes:
        key: Which one.
        unit: Of its value, as tables name it.
        better: Whether low or high values are good; null where neither is.
        samples: Its rows.
        seconds_per_second: The time that goes there, on average; null where it is none.
    """

    key: Key
    unit: str
    better: Better | None
    samples: Samples
    seconds_per_second: float | None = None


def better_of(name: str, unit: str | None) -> Better | None:
    """Which way a figure is better, by its unit and the words of its name; null where these do not tell.

    >>> better_of("fio.bw", "bytes_per_s"), better_of("fio.lat_mean", "us"), better_of("redo size", "per_s")
    ('high', 'low', None)
    """
    words = " ".join(plain_words(name))
    is_rate = (unit or "").endswith("per_s")
    if unit in _TIMES or _BAD.search(words) or (not is_rate and _LONG.search(words)):
        return "low"
    return "high" if _GOOD.search(words) else None


def plain_words(name: str) -> list[str]:
    """The words of a name in small letters, whatever parts them."""
    return _WORD.findall(name.lower())


_WORD: Final = regex(r"[a-z0-9]+")
