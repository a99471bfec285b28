"""Statistics that all vendors have: a common name asks for each vendor's own."""

from collections import Counter

import pytest

from doctord.dataset.common_statistics import COMMON, names_of
from doctord.dataset.dataset import Dataset
from doctord.dataset.mysql_names import STATUS, is_gauge
from doctord.diagnose.case import Case


@pytest.mark.parametrize("name", COMMON)
def test_each_vendor_has_it_under_a_name_of_its_own(name: str) -> None:
    assert list(COMMON[name].names) == ["postgresql", "oracle", "mysql"]
    assert set(Counter(names_of(name)).values()) == {1}
    assert not any(is_gauge(own.removeprefix(STATUS)) for own in COMMON[name].names["mysql"])


def test_what_is_asked_for_is_the_sum_of_what_was_measured() -> None:
    named = {"pg_stat_database.blks_hit": 90.0, "pg_stat_database.blks_read": 10.0, "v$sysstat.user commits": 7.0}
    case = Case(Dataset.from_rows(statistic=[{"db": "d", "name": name, "value": of} for name, of in named.items()]))
    assert case.common("logical reads") == 100.0
    assert case.common("physical reads") == 10.0
    assert case.common("commits") == 7.0
    assert case.common("deadlocks") is None
