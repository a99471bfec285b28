from contextlib import closing

import pytest

from doctord.collect.address import collector_of
from doctord.errors import Refusal


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("oracle://scott@db.example/sales", "latency of oracle:sales"),
        ("mysql://scott@db.example", "latency of mysql:db.example:3306"),
        ("mariadb://scott@db.example:3307", "latency of mysql:db.example:3307"),
    ],
)
def test_the_scheme_chooses_the_collector(address: str, name: str) -> None:
    with closing(collector_of(address, subjects=["query"], period_s=1.0)) as collector:
        assert (collector.name, collector.period_s) == (name, 1.0)


@pytest.mark.parametrize(
    ("address", "instances", "text"),
    [
        ("postgresql://scott@db", [], "neither oracle"),
        ("scott/tiger@db", [], "neither oracle"),
        ("mysql://scott@db", ["1"], "has no instances"),
        ("oracle://scott@db/sales", ["one"], "instance 'one' is no number"),
    ],
)
def test_what_cannot_be_is_refused(address: str, instances: list[str], text: str) -> None:
    with pytest.raises(Refusal, match=text) as refused:
        collector_of(address, instances=instances)
    assert "tiger" not in f"{refused.value} {refused.value.hint}"
