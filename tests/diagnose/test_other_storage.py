"""No verdict on the database from disks that are not its own."""

from typing import Any

import pytest

from diagnose.oracle_hosts import oracle_host
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said
from doctord.report.wording import verdict

FULL = {"device": "sda", "util_pct": 100.0, "request_ms": 80.0, "queue": 40.0, "writes_per_s": 500.0}


def found(reads_per_s: float, **disk: Any) -> Any:
    waits = {"db file sequential read": (7000.0, 0.8)}
    rows = [{"device": "sda", "reads_per_s": reads_per_s, "writes_per_s": 5.0, **disk}]
    return diagnose(oracle_host(waits=waits, cpu_s_per_s=1.0, extra={"disk": rows}))


@pytest.mark.parametrize(("reads_per_s", "is_own"), [(7100.0, True), (3.0, False)])
def test_a_full_disk_of_others_is_a_note_and_explains_nothing(reads_per_s: float, *, is_own: bool) -> None:
    findings = {finding.cause: finding for finding in found(reads_per_s, **FULL).findings}
    disk = findings["device_saturated"]
    assert (disk.severity == "note") is not is_own
    assert (disk.impact.share is None) is not is_own
    against = [said(item.why) for item in disk.against]
    assert ("this is not the database's storage" in against) is not is_own
    assert not [one for one in findings.values() if one.explained_by == "device_saturated" and not is_own]


def test_idle_disks_of_others_give_no_clean_bill_to_storage() -> None:
    diagnosis = found(0.0, util_pct=1.0, request_ms=0.3)
    assert "disks" in diagnosis.not_judged
    assert "disks" not in verdict(diagnosis)
    (unseen,) = (item for item in diagnosis.not_measured if said(item.what) == "the database's storage")
    assert said(unseen.why) == ("it reads 7,005 requests/s, and the disks that were seen (1) 0: these are not its own")
    assert "disks" in found(7100.0, util_pct=1.0, request_ms=0.3).judged
