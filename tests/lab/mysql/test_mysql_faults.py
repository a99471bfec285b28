import inspect
import sys

import pytest

from doctord.diagnose import engine
from doctord.diagnose.cause import CAUSES
from doctord.lab.dose import INTENSITIES
from doctord.lab.fault import ONE, all_faults

FAULTS = all_faults("mysql")


def test_at_least_fourteen_faults_have_a_cause_that_there_is() -> None:
    expected = {fault.cause for fault in FAULTS.values() if fault.cause}
    assert len([fault for fault in FAULTS.values() if fault.cause]) >= 14
    assert engine.diagnose  # it has all causes registered
    assert expected <= set(CAUSES)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_asks_for_its_amount_where_it_comes_in_several(name: str) -> None:
    fault = FAULTS[name]
    module = inspect.getmodule(inspect.unwrap(fault.inject))
    assert module is not None
    source = inspect.getsource(getattr(sys.modules[module.__name__], fault.name))
    assert fault.intensities == (INTENSITIES if fault.cause else ONE)
    assert ("dose.of(" in source) is (fault.cause is not None)


def test_what_is_the_same_on_every_engine_has_the_same_name() -> None:
    of_postgresql = all_faults("postgresql")
    same = {
        name for name, fault in FAULTS.items() if name in of_postgresql and of_postgresql[name].cause == fault.cause
    }
    assert {"row_lock_convoy", "idle_in_transaction", "missing_index", "cpu_hog", "disk_throttled"} <= same
