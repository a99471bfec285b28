"""Local times beside UTC: files of one run, of which some do not tell their zone, are put on one clock."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice

from doctord.analyse.clocks import ahead_s
from doctord.app.sources.held import Held
from doctord.units import duration

# Nothing of one run is further apart than any two zones are.
APART = timedelta(hours=15)
MOST_COMPARED = 100  # pairs of files, each some hundredths of a second


def of_one_clock(files: Sequence[Held]) -> list[Held]:
    """The files in their order; those that tell no zone moved to UTC where another of their host shows how far it is.

    What one file of a host shows holds for all of them that tell no zone.
    """
    shown = list[tuple[Held, tuple[int, Held]]]()
    for one, other in islice(_pairs(files, shown), MOST_COMPARED):
        if ahead := ahead_s(other.dataset, one.dataset):
            shown.append((one, (ahead, other)))
    return [_moved(one, shown) if one.is_local else one for one in files]


def _pairs(files: Sequence[Held], shown: Sequence[tuple[Held, tuple[int, Held]]]) -> Iterator[tuple[Held, Held]]:
    """Files that tell no zone with those that tell UTC, until one of their host has shown it."""
    known = [one for one in files if one.tells_utc]
    for one in (one for one in files if one.is_local):
        for other in known:
            if any(by is one or by.hosts & one.hosts for by, _ in shown):
                break
            if other.may_be_of(one.hosts) and _apart(one, other) <= APART:
                yield one, other


def _apart(one: Held, other: Held) -> timedelta:
    if not (one.since and one.until and other.since and other.until):
        return timedelta.max
    return max(one.since - other.until, other.since - one.until)


def _moved(one: Held, shown: Sequence[tuple[Held, tuple[int, Held]]]) -> Held:
    found = next((found for by, found in shown if by is one or one.hosts & by.hosts), None)
    if found is None:
        return one
    ahead, other = found
    sign, minutes = "+" if ahead > 0 else "-", abs(ahead) // 60
    zone = f"{sign}{minutes // 60:02}:{minutes % 60:02}"
    note = (
        f"no zone in it, and its times are {duration(abs(ahead))} {'ahead of' if ahead > 0 else 'behind'} those of"
        f" {other.file.name}, which are UTC and of the same run: {zone} is taken"
        f"\nhint: --zone={zone}, or its name, says so"
    )
    return one.moved(timedelta(seconds=-ahead), note)
