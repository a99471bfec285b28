from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from doctord import collect
from doctord.collect.core.database import Latency, Wanted
from doctord.collect.databases import database_of, databases
from doctord.collect.host import Host
from doctord.errors import UserError

TOY = """
from doctord.collect.core.database import Database, Unreached
from doctord.collect.core.notices import Notices

DATABASE = Database(
    name="toy",
    schemes=("toy",),
    collectors=lambda addresses: [Unreached(address, Notices()) for address in addresses],
)
"""


def latency(address: str, subject: str | None = None, instance: str | None = None) -> Latency:
    made = database_of(address).latency
    assert made
    return made(Wanted(subject, 1.0, dsn=address, instance=instance))


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("oracle://scott@db.example/sales", "latency of oracle:sales"),
        ("mysql://scott@db.example", "latency of mysql:db.example:3306"),
        ("mariadb://scott@db.example:3307", "latency of mysql:db.example:3307"),
    ],
)
def test_the_scheme_chooses_the_collector(address: str, name: str) -> None:
    with closing(latency(address, "query")) as collector:
        assert (collector.name, collector.period_s) == (name, 1.0)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("postgresql://scott@db", "postgresql"),
        ("postgres://scott@db", "postgresql"),
        ("host=db options='-c a=x://y'", "postgresql"),
        ("", "postgresql"),
        ("mariadb://scott@db", "mysql"),
    ],
)
def test_whose_an_address_is(address: str, name: str) -> None:
    assert database_of(address).name == name


@pytest.mark.parametrize(
    ("address", "instance", "text"),
    [
        ("redis://scott:tiger@db", None, "begins with none of"),
        ("mysql://scott@db", "1", "has no instances"),
        ("oracle://scott@db/sales", "one", "instance 'one' is no number"),
    ],
)
def test_what_cannot_be_is_refused(address: str, instance: str | None, text: str) -> None:
    with pytest.raises(UserError, match=text) as refused:
        latency(address, instance=instance)
    assert "tiger" not in f"{refused.value} {refused.value.hint}"


def test_what_is_not_sampled_is_refused_with_what_can_be_done() -> None:
    address = "oracle://scott@db/sales"
    with pytest.raises(UserError, match="are not sampled") as refused:
        Host(dsns=[address])
    assert refused.value.hint == "doctord map-live --dsn shows latencies"
    assert [one.name for one in Host(databases=False, dsns=[address]).collectors()] == [
        "linux",
        "linux rarely",
        "open files",
        "kernel log",
    ]


def test_a_mysql_server_is_looked_at_as_any_other() -> None:
    host, *others = Host(dsns=["mysql://scott@db"]).collectors()
    assert host.name == "linux"
    assert [one.name for one in others[-5:]] == [
        f"{what} of mysql:db:3306" for what in ("sessions", "statements", "settings", "replication", "error log")
    ]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another folder of collect/."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "__init__.py").write_text(TOY)
    monkeypatch.setattr(collect, "__path__", [*collect.__path__, str(tmp_path)])
    databases.cache_clear()
    yield
    databases.cache_clear()


@pytest.mark.usefixtures("toy")
def test_a_new_database_is_a_new_folder() -> None:
    assert database_of("toy://here").name == "toy"
    *_, collector = Host(dsns=["toy://here"]).collectors()
    assert collector.name == "toy://here"
