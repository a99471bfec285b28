"""Nothing a user meets is undocumented, and what the documentation says is there and runs."""

import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from doctord import cli
from doctord.dataset.rows import now_us, rows
from doctord.dataset.tables import TABLES
from doctord.diagnose.engine import CAUSES
from doctord.lake.query import Lake
from doctord.lake.writer import LakeWriter

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


@cache
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
        if words[0] in ("--help", "--install-completion", "lab", "size") and command is None:
            continue
        assert command is not None, f"{page.name}: there is no command: doctord {call}"
        known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        given = {word.split("=")[0] for word in words if re.fullmatch(r"--?[a-z-]+(=.*)?", word)}
        assert given <= known | {"--help"}, f"{page.name}: doctord {call}"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    path = tmp_path_factory.mktemp("documentation") / "lake"
    with LakeWriter(path) as writer:
        writer.append(rows("cpu", [{"ts": now_us(), "interval_s": 1.0, "usr_pct": 5.0}]))
    return Lake(path)


def queries() -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    found = [sql for text in texts for sql in re.findall(r'doctord sql (?:--\w+ )?"((?:[^"\\]|\\.)+)"', text)]
    return sorted({sql.replace('\\"', '"') for sql in found if not sql.endswith("...")})


@pytest.mark.parametrize("sql", queries())
def test_queries_in_pages_run(lake: Lake, sql: str) -> None:
    with lake.connect() as connection:
        connection.sql(sql).fetchall()


@pytest.mark.parametrize(
    "page", ["add-a-cause.md", "add-a-collector.md", "add-a-database.md", "add-a-reader.md", "add-a-rule.md"]
)
def test_code_in_pages_is_the_code(page: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "how-to" / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    files = [path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py")]
    real = {line for path in files for line in path.read_text(encoding="utf-8").splitlines()}
    assert blocks
    assert [line for block in blocks for line in block.splitlines() if line not in real] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "decisions"], ids=str)
def test_files_that_pages_name_are_there(page: Path) -> None:
    named = re.findall(r"`((?:[\w.*-]+/)+[\w.*-]+\.(?:py|rs|toml|csv|md|sh|txt))`", page.read_text(encoding="utf-8"))
    to_be_made = re.compile(r"[A-Z]{4}|\btoy\b|grant-toy")
    places = (ROOT, ROOT / "src/doctord", ROOT / "native", ROOT / "native/src")
    assert [
        name for name in named if not to_be_made.search(name) and not any(any(at.glob(name)) for at in places)
    ] == []


def test_every_benchmark_is_listed() -> None:
    here = ROOT / "benchmarks"
    listed, names = (
        (here / "README.md").read_text(encoding="utf-8"),
        [path.relative_to(here) for path in here.rglob("*.py")],
    )
    assert [name for name in names if f"]({name})" not in listed] == []


def test_every_table_and_cause_is_in_the_reference() -> None:
    tables = (DOCS / "reference" / "tables.md").read_text(encoding="utf-8")
    causes = (DOCS / "reference" / "causes.md").read_text(encoding="utf-8")
    assert [name for name in TABLES if f"\n## {name}\n" not in tables] == []
    assert [name for name in CAUSES if f"\n### {name}\n" not in causes] == []
