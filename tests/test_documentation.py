"""Nothing a user meets is undocumented, and what the documentation says is there: pages, commands, options, names."""

import re
import runpy
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from doctord import cli
from doctord.chart.tables import TABLES
from doctord.collect.collector import Collector
from doctord.collect.linux import LinuxCollector
from doctord.collect.postgres.figures import unit_of
from doctord.collect.postgres.statistics import StatisticsCollector
from doctord.collect.postgres.views import VIEWS
from doctord.diagnose.engine import CAUSES
from postgres_samples import link_to, rows_of
from servers import running_postgres

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = runpy.run_path(str(DOCS / "make_reference.py"))
INDEX = [ROOT / "README.md", DOCS / "README.md"]
BY_HAND = [*ROOT.glob("*.md"), *(ROOT / "benchmarks").glob("*.md"), *DOCS.rglob("*.md")]
PAGES = sorted({*BY_HAND, *INDEX})

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@pytest.mark.parametrize("name", REFERENCE["PAGES"])
def test_reference_pages_say_what_the_code_says(name: str) -> None:
    written = (DOCS / "reference" / name).read_text(encoding="utf-8")
    assert written == REFERENCE["page"](name), "run `make docs`"


# Pages and the links between them.


def links(page: Path) -> list[tuple[Path, str]]:
    """File and anchor of each link that stays in the repository."""
    found = re.findall(r"\]\((?!https?://)([^)#\s]*)#?([^)\s]*)\)", page.read_text(encoding="utf-8"))
    return [((page.parent / file).resolve() if file else page, anchor) for file, anchor in found]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pages
def test_links_lead_to_files_and_headings(page: Path) -> None:
    assert [str(file) for file, _ in links(page) if not file.exists()] == []
    lost = [(file.name, anchor) for file, anchor in links(page) if anchor and anchor not in anchors(file)]
    assert lost == []


def test_every_page_is_reached_from_the_readme() -> None:
    reached, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        reached.add(page)
        todo += [file for file, _ in links(page) if file.suffix == ".md" and file not in reached]
    assert [str(page.relative_to(ROOT)) for page in sorted(DOCS.rglob("*.md")) if page not in reached] == []


# Commands.


def commands() -> dict[str, TyperCommand]:
    """Every command by its words: `checkup`, `lab run`."""
    cli.load()
    found: dict[str, TyperCommand] = {}
    todo: list[tuple[str, Any]] = list(get_group(cli.app).commands.items())
    for name, command in todo:
        if isinstance(command, TyperGroup):
            todo += [(f"{name} {below}", one) for below, one in command.commands.items()]
        else:
            found[name] = command
    return found


def test_every_command_is_in_the_reference_and_the_readme() -> None:
    reference = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in commands():
        assert f"## doctord {name}\n" in reference
        assert f"doctord {name.split()[0]}" in readme


@pages
def test_commands_in_pages_exist_with_their_options(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for call in re.findall(r"(?:^|`|\bbin/)doctord ((?:[a-z]+ )*[^`\n|;&>]*)", text, flags=re.MULTILINE):
        words = call.split()
        command = commands().get(" ".join(words[:2])) or commands().get(words[0])
        if words[0] in ("--help", "lab") and command is None:
            continue
        assert command is not None, f"{page.name}: there is no command: doctord {call}"
        known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        given = {word.split("=")[0] for word in words if re.fullmatch(r"--?[a-z-]+(=.*)?", word)}
        assert given <= known | {"--help"}, f"{page.name}: doctord {call}"


# Names: tables, columns, causes, statistics, settings.


def test_every_table_and_cause_is_in_the_reference() -> None:
    tables = (DOCS / "reference" / "tables.md").read_text(encoding="utf-8")
    causes = (DOCS / "reference" / "causes.md").read_text(encoding="utf-8")
    assert [name for name in TABLES if f"\n## {name}\n" not in tables] == []
    assert [name for name in CAUSES if f"\n### {name}\n" not in causes] == []


def documented(component: str) -> dict[str, tuple[str, str]]:
    """Unit and kind by name, from the tables of a section of the page of statistics."""
    page = (DOCS / "reference" / "statistics.md").read_text(encoding="utf-8")
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
    measured = r'"((?:cpu|memory|io|listen)\.(?!\w+_in_bytes)\w+(?:_pct|_per_s|_bytes|_cpus|_queue|\.backlog))"'
    backlog = in_source("native/src/host", r'"(listen\.backlog)"')
    assert in_source("native/src/host", measured) | backlog == {*documented("kernel"), *documented("cgroup")}


def test_whole_views_are_those_of_the_page() -> None:
    whole = {name.removesuffix(".*") for name in documented("postgresql") if name.endswith(".*")}
    assert whole == {view.name for view in VIEWS}


def test_names_in_queries_are_those_of_the_page() -> None:
    whole = tuple(f"{view.name}." for view in VIEWS)
    asked = in_source("src/doctord/collect/postgres", r'"(pg_[a-z_]+\.[a-z_]+|pg_is_in_recovery)"')
    gauges = {f"{view.name}.{column}" for view in VIEWS for column in view.gauges}
    named = {name for name in asked if not name.startswith(whole)}
    assert named | gauges == {name for name in documented("postgresql") if not name.endswith(".*")}


@pytest.mark.parametrize("folder", ["analyse", "diagnose", "report"])
def test_a_diagnosis_asks_for_documented_names_only(folder: str) -> None:
    asked = in_source(
        f"src/doctord/{folder}", r"""["'](pg_(?:stat\w*|database|prepared_xacts|replication_slots)\.\w+)"""
    )
    assert [name for name in sorted(asked) if described("postgresql", name) is None] == []


def emitted(collectors: list[Collector], samples: int, pause_s: float) -> dict[str, list[dict[str, Any]]]:
    """Rows of `statistic` and `setting` of some samples."""
    found: dict[str, list[dict[str, Any]]] = {"statistic": [], "setting": []}
    for number in range(samples):
        time.sleep(pause_s if number else 0)
        batches = [batch for collector in collectors for batch in collector.sample()]
        for table, rows in found.items():
            rows.extend(rows_of(table, batches))
    return found


def test_the_host_says_what_is_documented() -> None:
    with closing(LinuxCollector()) as collector:
        found = emitted([collector], 2, 0.3)
    assert {row["name"] for row in found["statistic"]} >= {"listen.accept_queue", "sample_ms", "cpu_ms_per_s"}
    for row in found["statistic"]:
        assert described(row["component"], row["name"]) == (row["unit"], row["kind"]), row
    page = (DOCS / "reference" / "statistics.md").read_text(encoding="utf-8").partition("## Settings")[2]
    settings = {re.sub(r"^block\.[^.]+", "block.DEVICE", row["name"]) for row in found["setting"]}
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
