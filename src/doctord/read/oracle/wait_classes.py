"""Classes of wait events, for reports that do not print them: Statspack, and AWR before 11g in most sections.

The mapping is `dataset/waits/oracle.csv`: taken from V$EVENT_NAME.WAIT_CLASS of 10.2 to 23ai, with names that 8i and 9i
used. An event that is not in it is `Other`, as most events are.
"""

from typing import Final

from doctord.dataset.waits.events import find, wait_events

OTHER: Final = "Other"
NOT_LISTED: Final = "(the rest, not listed)"
"""In place of an event: the waits that a list of top events leaves out."""
# The events whose class is not Other, by name: what of an event is cut off in a report is found among them.
CLASS_OF: Final = {
    line.event: line.wait_class
    for line in wait_events("oracle")
    if line.wait_class not in {OTHER, "CPU"} and "%" not in line.event
}


def class_of(event: str) -> str:
    """The wait class of an event, as Oracle has it; `CPU` for the lines among events that are CPU time.

    >>> class_of("db file sequential read"), class_of("gc cr block 3-way"), class_of("latch free")
    ('User I/O', 'Cluster', 'Other')
    """
    found = find("oracle", event)
    return found.wait_class if found else OTHER
