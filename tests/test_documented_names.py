"""Every name that a collector writes into `statistic` or `setting` is on its page of the reference, as it is there."""

import re
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from doctord.collect.core.collector import Collector
from doctord.collect.linux import LinuxCollector
from doctord.collect.linux.rarely import RareCollector
from doctord.collect.postgres.statistics.collector import StatisticsCollector
from doctord.collect.postgres.statistics.figures import unit_of
from doctord.collect.postgres.statistics.objects.told_to_planner import OPTIONS, VOLATILE
from doctord.collect.postgres.statistics.views import VIEWS
from doctord.diagnose.common.failures import TRACKS_UTILITY
from postgres_samples import link_to, rows_of
from servers import running_postgres

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "statistics.md"
TRACKS = "pg_stat_statements.track"
# Names that no query holds: what the collector of that family makes of other things than the server's views.
FAMILIES = ("logins", "certificate", "limits", "client_process", "clock", "tcp", "listening", "restore_command")


def documented(component: str) -> dict[str, tuple[str, str]]:
    """Unit and kind by name, from the tables of a section of the page of statistics."""
    page = PAGE.read_text(encoding="utf-8")
    section = re.split(r"^## ", page, flags=re.MULTILINE)
    (text,) = (part for part in section if part.startswith(f"{component}\n"))
    return {name: (unit, kind) for name, unit, kind in re.findall(r"^\| `(\S+)` \| ([\w ]+) \| (\w+) \|", text, re.M)}


def described(component: str, name: str) -> tuple[str, str] | None:
    """Unit and kind that the page promises for a name; null when it does not know it."""
    known = documented(component)
    if name in known:
        return known[name]
    whole = known.get(f"{name.partition('.')[0]}.*")
    return whole and (f"{unit_of(name)}per_s", whole[1])


def in_source(folder: str, pattern: str) -> set[str]:
    """What a pattern finds in the files of a folder of the source."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.*") if path.suffix in (".py", ".rs"))
    return {found for text in texts for found in re.findall(pattern, text)}


def test_names_of_the_host_are_those_of_the_page() -> None:
    # The kernel's own files of version 1 are called memory.limit_in_bytes and so on.
    families = "cpu|memory|io|listen|numa|process|short_lived|tcp"
    clients = r'"(tcp_clients\.\w+)"'
    measured = rf'"((?:{families})\.(?!\w+_in_bytes)\w+(?:_pct|_per_s|_bytes|_cpus|_queue))"'
    others = r'"(listen\.(?:backlog|accept_delay|pid)|short_lived\.elapsed_s|interrupts_per_s)"'
    plain = in_source("native/src/host", others) | in_source("native/src/host", clients)
    seldom = r'"((?:vmstat|meminfo|buddyinfo|hugepages|smaps|page_cache|open_files|extents|dasd|numa_maps|clock)\.\w+)"'
    rare = in_source("native/src/host/rarely", seldom)
    rare |= in_source("src/doctord/collect/linux", r'"(open_file\.\w+)"')
    assert in_source("native/src/host", measured) | plain | rare == {*documented("kernel"), *documented("cgroup")}


def test_whole_views_are_those_of_the_page() -> None:
    whole = {name.removesuffix(".*") for name in documented("postgresql") if name.endswith(".*")}
    assert whole == {view.name for view in VIEWS}


def test_names_in_queries_are_those_of_the_page() -> None:
    whole = tuple(f"{view.name}." for view in VIEWS)
    asked = in_source(
        "src/doctord/collect/postgres",
        r'"((?:pg|tablespace)_[a-z_]+\.[a-z_]+|pg_is_in_recovery|pg_is_wal_replay_paused)"',
    )
    asked -= {OPTIONS, VOLATILE, TRACKS}  # components of settings, and a setting: no statistics
    gauges = {f"{view.name}.{column}" for view in VIEWS for column in view.gauges}
    known = {name for name in documented("postgresql") if not name.endswith(".*")}
    named = {name for name in asked if name in known or not name.startswith(whole)}
    elsewhere = ("log.", *(f"{family}." for family in FAMILIES))
    assert named | gauges == {name for name in known if not name.startswith(elsewhere)}


@pytest.mark.parametrize("family", FAMILIES)
def test_names_of_families_are_those_of_the_page(family: str) -> None:
    known = {name for name in documented("postgresql") if name.startswith(f"{family}.")}
    assert in_source("src/doctord/collect/postgres", rf'"({family}\.\w+)"') == known


@pytest.mark.parametrize("folder", ["analyse", "diagnose", "report"])
def test_a_diagnosis_asks_for_documented_names_only(folder: str) -> None:
    asked = in_source(
        f"src/doctord/{folder}",
        r"""["'](pg_(?:stat\w*|database|prepared_xacts|replication_slots|index|sequences|postmaster_start_time)\.\w+)""",
    )
    asked -= {TRACKS_UTILITY}  # a setting
    assert [name for name in sorted(asked) if described("postgresql", name) is None] == []


def emitted(collectors: list[Collector], samples: int, pause_s: float) -> dict[str, list[dict[str, Any]]]:
    """Rows of `statistic` and `setting` of some samples."""
    found: dict[str, list[dict[str, Any]]] = {"statistic": [], "setting": []}
    for number in range(samples):
        time.sleep(pause_s if number else 0)
        batches = [batch for collector in collectors for batch in collector.sample()]
        for table, gathered in found.items():
            gathered.extend(rows_of(table, batches))
    return found


def test_the_host_says_what_is_documented() -> None:
    with closing(LinuxCollector()) as collector:
        found = emitted([collector, RareCollector()], 2, 0.3)
    assert {row["name"] for row in found["statistic"]} >= {"listen.accept_queue", "sample_ms", "cpu_ms_per_s"}
    for row in found["statistic"]:
        assert described(row["component"], row["name"]) == (row["unit"], row["kind"]), row
    page = PAGE.read_text(encoding="utf-8").partition("## Settings")[2]
    told = (re.sub(r"^block\.[^.]+", "block.DEVICE", row["name"]) for row in found["setting"])
    told = (re.sub(r"^\d+ .*\.", "", name) for name in told)  # of a process, by its number and name
    settings = {re.sub(r"^path\..*(?=\.)", "path.FOLDER", name) for name in told}
    settings |= in_source("native/src/host", r'"((?:kernel|net|vm)\.[a-z_0-9.]+)"')
    assert [name for name in sorted(settings) if f"`{name}`" not in page] == []


@pytest.mark.server
@pytest.mark.parametrize("version", [15, 18])
def test_a_server_says_what_is_documented(version: int) -> None:
    with running_postgres(version) as server:
        link = link_to(server.dsn())
        with closing(StatisticsCollector(link)) as statistics:
            found = emitted([statistics], 2, 5.0)["statistic"]
    assert {row["name"] for row in found} >= {"pg_stat_database.xact_commit", "pg_stat_activity.connections"}
    wrong = {(row["name"], row["unit"], row["kind"]) for row in found} - {
        (row["name"], *(described(row["component"], row["name"]) or ())) for row in found
    }
    assert wrong == set()
