"""Several sources judged together: each over its own time."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from doctord.app.diagnose import Examination, diagnose
from doctord.app.source import Files
from reading import SAMPLES

AWR = SAMPLES / "awr.html"  # shop-db, 2024-03-02 09:00:10 to 10:00:10


def mpstat(folder: Path, begin: str, *, minutes: int = 10, idle_pct: float = 60.0) -> Path:
    """What `mpstat -P ALL 60` prints on the report's host, from a moment on."""
    start = datetime.fromisoformat(begin)
    lines = [f"Linux 5.14.0 (shop-db) \t{start:%m/%d/%y} \t_x86_64_\t(2 CPU)", ""]
    for minute in range(minutes):
        before, at = (start + timedelta(minutes=minute + step) for step in (0, 1))
        lines.append(f"{before:%H:%M:%S}     CPU    %usr   %nice    %sys %iowait   %idle")
        lines += [f"{at:%H:%M:%S}     {cpu}  {100 - idle_pct:6.2f}    0.00    0.00    0.00  {idle_pct:6.2f}"
                  for cpu in ("all", "  0", "  1")]  # fmt: skip
        lines.append("")
    path = folder / "mpstat.txt"
    path.write_text("\n".join(lines))
    return path


def told(found: Examination) -> dict[str, object]:
    """All that is said of the database: its time, who holds it, the findings with their figures."""
    diagnosis = found.diagnosis
    return {
        "time": [(one.event, pytest.approx(one.seconds_per_second)) for one in diagnosis.time],
        "top": [(one.name, pytest.approx(one.share), one.calls_per_s) for one in diagnosis.top],
        "findings": [(one.cause, one.impact, [item for item in (*one.for_, *one.against) if item.table != "cpu"])
                     for one in diagnosis.findings],
    }  # fmt: skip


@pytest.mark.parametrize("begin", ["2024-03-02 09:30:10", "2024-03-02 09:55:10", "2024-03-02 08:50:10"])
def test_a_report_says_the_same_with_an_mpstat_beside_it(tmp_path: Path, begin: str) -> None:
    alone = diagnose(Files([AWR]))
    both = diagnose(Files([AWR, mpstat(tmp_path, begin)]))
    assert told(both) == told(alone)


def test_a_minute_that_two_sources_tell_counts_once(tmp_path: Path) -> None:
    alone, both = diagnose(Files([AWR])), diagnose(Files([AWR, mpstat(tmp_path, "2024-03-02 09:30:10", idle_pct=5.0)]))
    (before, after) = (next(one.value for one in found.diagnosis.figures if one.name == "CPU used")
                       for found in (alone, both))  # fmt: skip
    assert after == pytest.approx(before)
