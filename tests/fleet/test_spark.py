import sys

import pytest

from doctord.app.fleet.engine import Failed
from fleet_jobs import doubled

pytest.importorskip("pysail", reason="pip install 'doctord[fleet]'")

from doctord.errors import UserError
from doctord.fleet.spark import Spark


@pytest.fixture(autouse=True)
def no_doctest(monkeypatch: pytest.MonkeyPatch) -> None:
    """PySpark takes a process without a main module, as xdist's are, for a doctest of its own, and ends it."""
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "xdist", raising=False)


def test_sail_does_the_same_as_local_processes() -> None:
    # As in test_processes.py.
    assert dict(Spark("sail").each(doubled, [1, 2, 13, 14, 3])) == {
        1: 2,
        2: 4,
        3: 6,
        13: Failed("13 is not doubled", "take another"),
        14: Failed("ValueError: a bug", "a fault of Doctor D's: please report it"),
    }


def test_a_cluster_that_does_not_answer_is_told() -> None:
    with pytest.raises(UserError, match=r"sc://127\.0\.0\.1: ") as refused:
        list(Spark("sc://127.0.0.1:9/;token=secret").each(doubled, [1]))
    assert "secret" not in str(refused.value)
    assert "15002" in refused.value.hint
