"""The waits that cost most time, with CPU as one of them; idle ones and those of parallel slaves are none.

A parallel slave (PX) that waits for its next piece of work delays nobody, and a query's coordinator waits for slaves
that are at work: their time is counted where they spend it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

TOP: Final = 10
CPU: Final = "CPU"
WAITED, WAIT_MS, CLASSES = "wait_s_per_s", "wait_ms", "wait_class_s_per_s"

Values = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Wait:
    """One of the waits that cost most today.

    Attributes:
        event: The event; `CPU` for time on one; a class where events were not measured.
        wait_class: Its class; null where the source does not tell it.
        s_per_s: Seconds waited per second, all instances together.
        share: Part (0 to 1) of all that is listed or would be.
        average_ms: Mean wait; null where it was not measured, or contradicts the other columns.
        whole_class: Whether it stands for all events of a class.
    """

    event: str
    wait_class: str | None
    s_per_s: float
    share: float
    average_ms: float | None
    whole_class: bool


def top_waits(values: Values, classes: Mapping[str, str]) -> list[Wait]:
    """The ten waits with most time, the largest first.

    Args:
        values: By name of a figure and entity; those that were not measured are not in it.
        classes: Wait class of each event.
    """
    times = _by_event(values, WAITED, classes)
    if set(times) <= {CPU} and (of_classes := _by_event(values, CLASSES, {})):
        return _listed({(CPU if name == "DB CPU" else name): of for name, of in of_classes.items()}, None, classes)
    return _listed(times, _by_event(values, WAIT_MS, classes), classes)


def event_of(entity: str, classes: Mapping[str, str]) -> tuple[str, str]:
    """Instance (empty: none) and event of an entity, which has the instance before the event, if there is one.

    >>> event_of("2 log file sync", {"log file sync": "Commit"})
    ('2', 'log file sync')
    """
    instance, _, event = entity.partition(" ")
    return (instance, event) if event in {*classes, CPU} and entity not in classes else ("", entity)


def _by_event(values: Values, figure: str, classes: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """The values of a figure by event and instance."""
    found = dict[str, dict[str, float]]()
    for (name, entity), value in values.items():
        if name == figure:
            instance, event = event_of(entity, classes)
            found.setdefault(event, {})[instance] = value
    return found


def _listed(
    times: Mapping[str, Mapping[str, float]],
    means: Mapping[str, Mapping[str, float]] | None,
    classes: Mapping[str, str],
) -> list[Wait]:
    """The largest of the waits; without means they are whole classes."""
    sums = {
        event: sum(of.values())
        for event, of in times.items()
        if classes.get(event) != "Idle" and not event.startswith("PX ") and any(of.values())
    }
    total = sum(sums.values())
    return [
        Wait(
            event,
            CPU if event == CPU else event if means is None else classes.get(event),
            seconds,
            seconds / total if total else 0.0,
            None if means is None else _average_ms(times[event], means.get(event, {})),
            means is None and event != CPU,
        )
        for event, seconds in sorted(sums.items(), key=lambda item: -item[1])[:TOP]
    ]


def _average_ms(times: Mapping[str, float], means: Mapping[str, float]) -> float | None:
    """The mean over instances, each by its number of waits, which is its time by its mean."""
    both = [(times[instance], mean) for instance, mean in means.items() if mean and times.get(instance)]
    waits = sum(seconds / mean for seconds, mean in both)
    return sum(seconds for seconds, _ in both) / waits if waits else None
