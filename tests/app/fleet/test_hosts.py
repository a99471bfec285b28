from pathlib import Path

import pytest

from doctord.app.fleet.hosts import Chosen, Host, hosts_of, labels_in
from doctord.errors import UserError
from heard import Heard


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("db-1", "db-2", "fra/db-1", "fra/web-1", "notes"):
        folder = tmp_path / name
        (folder if name == "notes" else folder / "sealed" / "cpu").mkdir(parents=True)
    return tmp_path


def found(place: Path, chosen: Chosen = Chosen(), labels: Path | None = None) -> dict[str, Host]:  # noqa: B008
    return {host.name: host for host in hosts_of(str(place), chosen, labels, Heard())}


def test_a_lake_for_each_host_also_by_site(place: Path) -> None:
    hosts = found(place)
    assert set(hosts) == {f"{place.name}/db-1", "db-2", "fra/db-1", "web-1"}
    assert hosts["fra/db-1"].lake == str(place / "fra" / "db-1")


def test_one_lake_is_a_fleet_of_one(place: Path) -> None:
    assert list(found(place / "db-2")) == ["db-2"]


def test_labels_of_patterns_the_later_holds(place: Path) -> None:
    (place / "labels.toml").write_text('["*"]\nrole = "oltp"\nsite = "ams"\n["web-*"]\nrole = "web"\ncpus = 4\n')
    hosts = found(place)
    assert hosts["db-2"].labels == {"role": "oltp", "site": "ams"}
    assert hosts["web-1"].labels == {"role": "web", "site": "ams", "cpus": "4"}
    assert list(found(place, Chosen.asked([], ["role=web"]))) == ["web-1"]
    assert list(found(place, Chosen.asked(["DB-2", "web*"], []))) == ["db-2", "web-1"]


def test_labels_of_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text('host, site ,role\ndb-*,"a, b",\ndb-2,,web\n\n')
    assert labels_in(path) == [("db-*", {"site": "a, b"}), ("db-2", {"role": "web"})]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("l.csv", "name,role\n", "l.csv:1: there is no column host"),
        ("l.csv", "host,role,role\n", "two columns role"),
        ("l.csv", "host,role\na,b\nc,d,e\n", "l.csv:3: more cells than columns"),
        ("l.toml", "role = 1\n", "role is no table"),
        ("l.toml", "[a]\nrole = [1]\n", "role of a is no text"),
        ("l.toml", "[a\n", "line 1"),
        ("none.csv", None, "No such file"),
    ],
)
def test_labels_that_cannot_be_used_say_where(tmp_path: Path, name: str, text: str | None, told: str) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError) as refused:
        labels_in(path)
    assert told in str(refused.value)


def test_what_is_no_fleet_is_refused(tmp_path: Path, place: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        found(tmp_path / "none")
    with pytest.raises(UserError, match="no lake is in it"):
        found(place / "notes")
    with pytest.raises(UserError, match="none of the 4 hosts"):
        found(place, Chosen.asked(["oracle-*"], []))
    with pytest.raises(UserError, match="no label with its value"):
        Chosen.asked([], ["role"])


def test_a_site_may_be_called_hosts_and_a_file_system_keeps_a_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "hosts" / "db-1" / "sealed" / "cpu").mkdir(parents=True)
    (tmp_path / "lost+found" / "sealed" / "cpu").mkdir(parents=True)
    assert {name: host.is_shipped for name, host in found(tmp_path).items()} == {"db-1": False}
