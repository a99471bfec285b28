"""Nothing a user meets is undocumented: pages made from the code are up to date, and links lead somewhere."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REFERENCE = runpy.run_path(str(ROOT / "docs" / "make_reference.py"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", REFERENCE["PAGES"])
def test_reference_pages_say_what_the_code_says(name: str) -> None:
    written = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert written == REFERENCE["page"](name), "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_command_is_in_the_readme_or_the_reference() -> None:
    reference = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in ("checkup", "record", "diagnose", "report", "sql", "lab"):
        assert f"## doctord {command}" in reference
        assert f"doctord {command}" in readme
