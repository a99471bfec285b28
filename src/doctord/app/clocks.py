"""Local times beside UTC: files of one run, of which some do not tell their zone, are put on one clock."""

from collections.abc import Sequence
from datetime import timedelta

from doctord.analyse.clocks import ahead_s
from doctord.app.held import Held
from doctord.units import duration

# Nothing of one run is further apart than any two zones are.
APART = timedelta(hours=15)
MOST_COMPARED = 20  # files that tell UTC, of those that are near


def of_one_clock(files: Sequence[Held]) -> list[Held]:
    """The files in their order; those that tell no zone moved to UTC where another of their host shows how far it is.

    What one file of a host shows holds for all of them that tell no zone.
    """
    known = [one for one in files if one.tells_utc]
    shown = [(one, found) for one in files if one.is_local and (found := _shown(one, known))]
    return [_moved(one, shown) if one.is_local else one for one in files]


def _shown(one: Held, known: Sequence[Held]) -> tuple[int, Held] | None:
    """Seconds by which a file is ahead of one that tells UTC, and that one."""
    near = [other for other in known if other.may_be_of(one.hosts) and _apart(one, other) <= APART]
    for other in near[:MOST_COMPARED]:
        if ahead := ahead_s(other.dataset, one.dataset):
            return ahead, other
    return None


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
