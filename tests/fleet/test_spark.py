import pytest

from doctord.app.fleet.engine import Failed
from doctord.fleet.processes import Processes
from fleet_jobs import doubled

pytest.importorskip("pysail", reason="pip install 'doctord[fleet]'")

from doctord.errors import UserError
from doctord.fleet.spark import Spark


def test_sail_does_the_same_as_local_processes() -> None:
    tasks = [1, 2, 13, 14, 3]
    by_sail = dict(Spark("sail").each(doubled, tasks))
    assert by_sail == dict(Processes(1).each(doubled, tasks))
    assert by_sail[13] == Failed("13 is not doubled", "take another")


def test_a_cluster_that_does_not_answer_is_told() -> None:
    with pytest.raises(UserError, match=r"sc://127\.0\.0\.1: ") as refused:
        list(Spark("sc://127.0.0.1:9/;token=secret").each(doubled, [1]))
    assert "secret" not in str(refused.value)
    assert "15002" in refused.value.hint
