"""What the headings of a table of figures mean: whose figures they are, how they are measured, and of which time."""

import re
from typing import Final, NamedTuple

from doctord.regex import regex
from doctord.units import SECONDS

DAY_S: Final = 86400.0
# By the heading that says whom a row is about, the surest first: what it is.
SUBJECTS: Final = {
    **dict.fromkeys(("event", "event name", "wait event"), "wait"),
    **dict.fromkeys(("statistic", "statistic name", "stat name"), "statistic"),
    **dict.fromkeys(("setting", "parameter"), "setting"),
    **dict.fromkeys(("tablespace", "tablespace name"), "tablespace"),
    **dict.fromkeys(("datafile", "data file"), "datafile"),
    **dict.fromkeys(("run", "case", "scenario", "step", "test", "cache", "class"), "workload"),
}
# A table of two states is of the first of them: comparing them is a study.
FIRST_STATES: Final = ("before", "baseline")
OTHER_STATES: Final = ("after",)
LIMITS: Final = ("target", "threshold", "limit", "goal")
NOW: Final = ("today", "now", "current")
_STATES: Final = {"limit": LIMITS, "first": FIRST_STATES, "other": OTHER_STATES}
AGO: Final = regex(r"d(\d+)|(\d+)d")
TOOK: Final = ("elapsed", "duration", "took")
DEPTHS: Final = ("depth", "iodepth", "io depth", "queue depth", "qd")
DONE: Final = ("iops", "bw", "bandwidth", "throughput")
AVERAGE: Final = ("avg", "average", "mean")
SIZES: Final = {"bytes": 1.0, "kb": 1024.0, "mb": 1024.0**2, "gb": 1024.0**3, "kib": 1024.0, "mib": 1024.0**2,
                "gib": 1024.0**3}  # fmt: skip
# Words that name a unit of time in a heading; a lone `m` or `d` would be any word's first letter.
TIMES: Final = {name: size for name, size in SECONDS.items() if len(name) > 1 or name == "s"} | {
    "cs": 1e-2, "centiseconds": 1e-2
}  # fmt: skip


class Heading(NamedTuple):
    """A heading in its parts.

    Attributes:
        text: The column's name as it stands.
        words: What it measures, without time, unit and `per`.
        scale: Times which its figures are in seconds, bytes or as they are.
        unit: `s`, `bytes`, `pct`, or null where it names none.
        per_s: Seconds in the time that it counts over (`per_s`, `per_day`); null where it does not count over time.
        ago_s: How much older its figures are than the row.
        state: `first` and `other` of two states, `limit` for what the figures are held against, else `own`.
    """

    text: str
    words: tuple[str, ...]
    scale: float = 1.0
    unit: str | None = None
    per_s: float | None = None
    ago_s: float = 0.0
    state: str = "own"

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of something."""
        return any(word in AVERAGE for word in self.words)

    def has(self, *words: str) -> bool:
        """Whether one of these words is in it."""
        return any(word in self.words for word in words)


def plain(text: str) -> str:
    """A heading in small letters and single blanks.

    >>> plain("Wait_Event")
    'wait event'
    """
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def subject_of(names: list[str]) -> tuple[int, str] | None:
    """Which column says whom a row is about, and what it is; null where none does.

    Where another column tells how long something took, the first one names what; of a sweep over queue depths, which
    tells how much was done, the depth does.

    >>> subject_of(["class", "statistic", "value"]), subject_of(["page_size", "elapsed_s"])
    ((1, 'statistic'), (0, 'workload'))
    >>> subject_of(["iodepth", "iops", "lat_p99_us"]), subject_of(["iodepth", "errors"])
    ((0, 'workload'), None)
    """
    headings = [plain(name) for name in names]
    found = next((known for known in SUBJECTS if known in headings), None)
    if found is not None:
        return headings.index(found), SUBJECTS[found]
    others = [heading(name) for name in names[1:]]
    took = any(one.unit == "s" and one.has(*TOOK) for one in others)
    is_sweep = headings[0] in DEPTHS and any(one.has(*DONE) for one in others)
    return (0, "workload") if took or is_sweep else None


def heading(text: str) -> Heading:
    """A heading in its parts.

    >>> heading("before_avg_ms").unit, heading("before_avg_ms").scale, heading("d90_cs").ago_s
    ('s', 0.001, 7776000.0)
    >>> heading("iops_per_day").per_s, heading("after_waits_per_s").state
    (86400.0, 'other')
    """
    words = plain(text).split()
    per_s, rest = _per(words)
    scale, unit = 1.0, None
    if rest and (rest[-1] in TIMES or rest[-1] in SIZES):
        unit = "s" if rest[-1] in TIMES else "bytes"
        scale = TIMES.get(rest[-1]) or SIZES[rest[-1]]
        rest = rest[:-1]
    elif rest and rest[-1] in {"pct", "percent"}:
        unit, rest = "pct", rest[:-1]
    ago = next((found for word in rest if (found := AGO.fullmatch(word))), None)
    own = tuple(word for word in rest if word not in (*NOW, *FIRST_STATES, *OTHER_STATES) and not AGO.fullmatch(word))
    state = next((state for state, known in _STATES.items() if any(word in known for word in rest)), "own")
    own = tuple(word for word in own if word not in LIMITS)
    return Heading(text, own, scale, unit, per_s, DAY_S * int(ago[1] or ago[2]) if ago else 0.0, state)


def _per(words: list[str]) -> tuple[float | None, list[str]]:
    """Seconds that a count is over (null where it is over something else), and the words before `per`.

    >>> _per(["bw", "mib", "s"])
    (1.0, ['bw', 'mib'])
    """
    if len(words) > 1 and words[-1] == "s" and words[-2] in SIZES:
        return 1.0, words[:-1]
    if "per" not in words[:-1]:
        return None, words
    at = words.index("per")
    return TIMES.get(words[at + 1]) if at + 2 == len(words) else None, words[:at]
