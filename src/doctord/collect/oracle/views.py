"""What Oracle's views of wait events hold, and how they are asked.

SELECT on four views is all that is needed. They come with the database: no view of AWR or ASH, which cost a licence,
is read. Counts and times include the background processes' waits and go back to the start of the instance.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from doctord.collect.core.increase import ALL, Buckets, Edges, Total
from doctord.collect.core.link import Link

Instances = Mapping[str, Mapping[str, Buckets]]
"""Buckets by wait event by instance."""

_EVENTS: Final = "SELECT /* doctord */ name, wait_class FROM v$event_name"
_TOTALS: Final = "SELECT /* doctord */ inst_id, event, sum(total_waits), sum(time_waited_micro) FROM gv$system_event"
_MICRO: Final = "SELECT /* doctord */ inst_id, event, wait_time_micro, sum(wait_count) FROM gv$event_histogram_micro"
_MILLI: Final = "SELECT /* doctord */ inst_id, event, wait_time_milli, sum(wait_count) FROM gv$event_histogram"
_NOT_IDLE: Final = "event NOT IN (SELECT name FROM v$event_name WHERE wait_class = 'Idle')"

_FIRST_WITH_MICRO: Final = (12, 1, 0, 2)
_LAST_MICRO_US: Final = 2.0**32
_LAST_MILLI_US: Final = 2.0**22 * 1000
"""The last edges of the two histograms: a bucket named beyond them holds all that was longer."""


def wait_classes(link: Link) -> dict[str, str]:
    """Class by wait event: all events that this version knows."""
    return {str(name): str(wait_class) for name, wait_class in link.query(_EVENTS)}


def totals(link: Link, instances: Sequence[int]) -> Instances:
    """Number and time of the waits for each event that ever occurred, exactly; of all instances if none is named.

    To ask for fewer events would save the server nothing: the view is a walk through all of them.
    """
    conditions, values = _where(inst_id=instances)
    found: dict[str, dict[str, Buckets]] = {}
    for instance, event, count, micros in link.query(_query(_TOTALS, conditions, "inst_id, event"), values):
        found.setdefault(str(instance), {})[event] = {ALL: Total(int(count), float(micros))}
    return found


def histograms(link: Link, events: Sequence[str], instances: Sequence[int]) -> Instances:
    """How many waits took how long; of all events that are not idle if none is named, and all instances likewise."""
    conditions, values = _where(event=events, inst_id=instances)
    if not events:
        conditions.append(_NOT_IDLE)
    with_micro = _version(link) >= _FIRST_WITH_MICRO
    unit_us, last_us = (1.0, _LAST_MICRO_US) if with_micro else (1000.0, _LAST_MILLI_US)
    select, column = (_MICRO, "wait_time_micro") if with_micro else (_MILLI, "wait_time_milli")
    found: dict[str, dict[str, dict[Edges, Total]]] = {}
    for instance, event, upper, count in link.query(_query(select, conditions, f"inst_id, event, {column}"), values):
        buckets = found.setdefault(str(instance), {}).setdefault(event, {})
        buckets[_edges(float(upper) * unit_us, unit_us, last_us)] = Total(int(count))
    return found


def _edges(upper_us: float, unit_us: float, last_us: float) -> Edges:
    """Edges of the bucket that is named by its upper one, a power of two of the unit.

    >>> _edges(1.0, 1.0, 2.0**32), _edges(8000.0, 1000.0, 2.0**22 * 1000), _edges(2.0**33, 1.0, 2.0**32)
    ((0.0, 1.0), (4000.0, 8000.0), (4294967296.0, None))
    """
    if upper_us > last_us:
        return last_us, None
    return (0.0 if upper_us <= unit_us else upper_us / 2), upper_us


def _version(link: Link) -> tuple[int, ...]:
    return tuple(int(part) for part in str(link.connection.version).split("."))


def _where(**wanted: Sequence[object]) -> tuple[list[str], list[object]]:
    """Conditions that a column is one of some values, and these as bind variables; none for a column without any."""
    conditions: list[str] = []
    values: list[object] = []
    for column, chosen in wanted.items():
        if chosen:
            places = ", ".join(f":{len(values) + nth}" for nth in range(1, len(chosen) + 1))
            conditions.append(f"{column} IN ({places})")
            values += chosen
    return conditions, values


def _query(select: str, conditions: Sequence[str], group: str) -> str:
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"{select}{where} GROUP BY {group}"  # events of one name are one event here
