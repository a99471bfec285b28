"""How waits spread, as phrases without a point at the end: a latency map's modes, outliers, bursts and shifts."""

from collections.abc import Iterator

from doctord.analyse.latency.map import LatencyMap
from doctord.analyse.latency.modes import Mode, Outliers, Reading, Shift
from doctord.diagnose.phrase import Phrase, Words, phrase

NEARLY_ALL = 0.98
NEXT_TO_ALL = 0.995  # from here on two digits would say 100 %


def told(drawn: LatencyMap, found: Reading) -> list[Words]:
    """What a map shows, a sentence each: of means, of samples and of few waits that it cannot be told."""
    whole = drawn.whole
    if drawn.kind == "sampled":
        longest_us = max((bucket.le_us for bucket in whole.buckets if bucket.count), default=0.0)
        words = "Sampled: how short the waits were cannot be told, only their time in sum; none over {:latency}"
        return [phrase(words, longest_us / 1e6)]
    if drawn.kind == "mean":
        return ["Means only: how the waits were spread cannot be told"]
    if not found.is_told:
        few = phrase("{} waits are too few to tell how they are spread", whole.total)
        return [few if whole.total else "Nothing waited"]
    return list(_told(found))


def _told(found: Reading) -> Iterator[Words]:
    for mode in found.modes:
        yield _mode(mode, is_alone=len(found.modes) == 1)
    every = phrase("in bursts every {:duration}", found.bursts.every_s) if found.bursts else None
    if found.outliers:
        yield _outliers(found.outliers, phrase(", {}", every) if every else "")
    elif found.bursts and every:
        yield phrase("Those over {:latency} come {}", found.bursts.over_us / 1e6, every)
    if found.shift:
        yield _shift(found.shift)


def _mode(mode: Mode, *, is_alone: bool) -> Phrase:
    return phrase(
        "{} took around {:latency} ({:latency} to {:latency}){}{}",
        "Nearly all" if is_alone and mode.share > NEARLY_ALL else _share(mode.share),
        mode.typical_us / 1e6,
        mode.low_us / 1e6,
        mode.high_us / 1e6,
        f", {mode.meaning}" if mode.meaning else "",
        "" if is_alone else phrase("; {} of the time", _share(mode.time_share)),
    )


def _outliers(found: Outliers, again: Words) -> Phrase:
    return phrase(
        "{} took over {:latency}{}: up to {:latency}, {} of the time",
        _share(found.share),
        found.over_us / 1e6,
        again,
        found.longest_us / 1e6,
        _share(found.time_share),
    )


def _shift(found: Shift) -> Phrase:
    times = found.after_us / found.before_us
    return phrase(
        "From {:%H:%M:%S} on they took {}: {:latency} before, {:latency} after (geometric means)",
        found.at,
        phrase("{:.2g} times as long", times) if times > 1 else phrase("{:.2g %} less time", 100 * (1 - times)),
        found.before_us / 1e6,
        found.after_us / 1e6,
    )


def _share(share: float) -> Phrase:
    """A share in two digits, also where that is far below a per cent: outliers are rare."""
    return phrase("{:.2g %}" if share < NEXT_TO_ALL else "{:.4g %}", 100 * share)
