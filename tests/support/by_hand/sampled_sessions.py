"""Sessions as a recorder samples them, by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
AT = int(START.timestamp())


def sampled(*, every_s: float, seconds: int, sessions: int = 1, phase_s: float = 0.0, **told: Any) -> Dataset:
    """Sessions that are always at work, sampled so often, on a host that is looked at each second."""
    active = {"kind": "client", "state": "active", "wait_class": "CPU", "event": "CPU", "host": "h"} | told
    times = [phase_s + every_s * (number + 1) for number in range(round(seconds / every_s))]
    rows = [
        {"ts": START + timedelta(seconds=at), "interval_s": every_s, "sid": sid, **active}
        for at in times
        for sid in range(sessions)
    ]
    cpu = [
        {"ts": START + timedelta(seconds=phase_s + second + 1), "interval_s": 1.0, "host": "h", "usr_pct": 1.0}
        for second in range(seconds)
    ]
    return Dataset.from_rows(session=rows, cpu=cpu)
