"""Files and devices that a traced program waits for."""

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from traces import target, without_loop


def test_a_lock_file_is_waited_for_as_it_should_be() -> None:
    """Workers that take turns at accept()."""
    locked = without_loop(targets=[target("/run/httpd/accept.lock", calls=8, seconds=0.9)])
    assert not diagnose(Dataset(), trace=locked).findings


def findings(name: str, calls: int, seconds: float) -> dict[str, Finding]:
    """Of a second in which a process did little else."""
    trace = without_loop(targets=[target(name, calls=calls, seconds=seconds, reads=calls, read_bytes=calls * 5000)])
    return {finding.cause: finding for finding in diagnose(Dataset(), trace=trace).findings}


def test_a_device_that_gives_little_by_itself() -> None:
    finding = findings("/dev/random", 8, 0.9)["slow_file"]
    assert said(finding.title) == "/dev/random takes 112.5 ms for each call, 90 % of busy time"
    assert finding.severity == "critical"


@pytest.mark.parametrize(
    ("name", "calls", "seconds"),
    [
        ("/data/base/1/16384", 20, 0.8),  # 40 ms each
        ("/data/base/1/16384", 3, 0.9),
        ("/dev/pts/3", 8, 0.9),
        ("/proc/kmsg", 8, 0.9),
        ("TCP:[127.0.0.1:5432]", 8, 0.9),
    ],
)
def test_what_is_quick_rare_or_no_file(name: str, calls: int, seconds: float) -> None:
    assert "slow_file" not in findings(name, calls, seconds)
