"""Classes of wait events, against those that reports print."""

import pytest

from doctord.read.oracle.wait_classes import CLASS_OF, class_of
from plain_html import section
from shared import CORPUS, sample

# Where versions differ, or Oracle changed its mind.
OTHERWISE = {"KSV master wait", "cell ram cache population", "lock escalate retry", "PX Deq: Join ACK"}


@pytest.mark.parametrize("name", ["DBU", "DBY"])
@pytest.mark.parametrize("kind", ["Foreground", "Background"])
def test_classes_are_those_that_oracle_prints(name: str, kind: str) -> None:
    rows = section(sample(CORPUS / f"awr/Azure_AWR_{name}.html"), f"{kind} Wait Events (Global)")
    printed = {" ".join(row[1].split()): row[0] for row in rows[2:] if row[0]}
    wrong = {event: (found, class_of(event)) for event, found in printed.items() if class_of(event) != found}
    assert set(wrong) <= OTHERWISE
    assert len(printed) > 150


def test_the_events_that_are_looked_at_most() -> None:
    expected = {
        "db file sequential read": "User I/O",
        "log file sync": "Commit",
        "log file parallel write": "System I/O",
        "log file switch (checkpoint incomplete)": "Configuration",
        "buffer busy waits": "Concurrency",
        "enq: TX - row lock contention": "Application",
        "enq: HW - contention": "Configuration",
        "gc cr block 3-way": "Cluster",
        "resmgr:cpu quantum": "Scheduler",
        "SQL*Net message from client": "Idle",
        "SQL*Net more data to client": "Network",
        "DB CPU": "CPU",
        "an event of tomorrow": "Other",
    }
    assert {event: class_of(event) for event in expected} == expected
    assert len(CLASS_OF) > 400
    assert not [event for event in CLASS_OF if event != " ".join(event.split())]
