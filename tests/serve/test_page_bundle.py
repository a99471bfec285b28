"""The page that is shipped is what its sources give, small, and asks nobody but its own server."""

import gzip
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
PAGE = files("doctord") / "serve/page"
SHIPPED = ("index.html", "app.js", "app.css", "licences.txt")
MOST_BYTES_OF_SCRIPT = 100_000


needs_node = pytest.mark.skipif(
    not (shutil.which("node") and (WEB / "node_modules/esbuild").is_dir()),
    reason="what builds it is not installed: make web",
)


@needs_node
@pytest.mark.parametrize("check", [["tsc"], ["prettier", "--check", "src"]], ids=["types", "format"])
def test_the_sources_are_checked(check: list[str]) -> None:
    command = [f"node_modules/.bin/{check[0]}", *check[1:]]
    checked = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@needs_node
def test_the_bundle_is_what_the_sources_give(tmp_path: Path) -> None:
    subprocess.run(["node", "build.mjs", tmp_path], cwd=WEB, check=True)
    for name in SHIPPED:
        assert (PAGE / name).read_text() == (tmp_path / name).read_text(), f"{name} is of other sources: make web"


def test_the_script_is_small() -> None:
    assert len(gzip.compress((PAGE / "app.js").read_bytes())) <= MOST_BYTES_OF_SCRIPT


@pytest.mark.parametrize("name", ["index.html", "app.js", "app.css"])
def test_nothing_is_loaded_from_elsewhere(name: str) -> None:
    text = (PAGE / name).read_text()
    loaded = re.findall(r"""(?:src|href)=["']?([^"'\s>]+)|url\(([^)]+)\)|(?:from|import)\s*["']([^"']+)""", text)
    assert not [one for found in loaded for one in found if re.match(r"(https?:)?//", one.strip("\"'"))]


def test_the_page_has_no_inline_script_or_style() -> None:
    text = (PAGE / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", text)
