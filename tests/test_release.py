"""`make release` refuses what a tag must not stand for."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
IDENTITY = ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-22\n"


def git(tree: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, *arguments], cwd=tree, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A committed tree of version 1.2.3 that says so; its wheel takes no time to build."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "native").mkdir()
    shutil.copy(ROOT / ".ci/release", tmp_path / ".ci/release")
    (tmp_path / "native/Cargo.toml").write_text('[package]\nversion = "1.2.3"\n\n[dependencies]\nlibc = "0.2"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / ".gitignore").write_text("/dist/\n")
    (tmp_path / "Makefile").write_text("wheel:\n\tmkdir dist && echo built > dist/doctord.whl\n")
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--message", "Everything")
    return tmp_path


def release(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([tree / ".ci/release"], capture_output=True, text=True, check=False)


def test_a_tag_that_is_the_version_is_released_with_checksums(tree: Path) -> None:
    git(tree, "tag", "v1.2.3")
    result = release(tree)
    assert result.returncode == 0, result.stderr
    assert "doctord.whl" in (tree / "dist/SHA256SUMS").read_text()


def untagged(_tree: Path) -> str:
    return "no tag v1.2.3"


def of_another_version(tree: Path) -> str:
    git(tree, "tag", "v1.2.4")
    return "no tag v1.2.3"


def changed(tree: Path) -> str:
    git(tree, "tag", "v1.2.3")
    (tree / "new.py").touch()
    return "not what was committed"


def without_changes_told(tree: Path) -> str:
    (tree / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n")
    git(tree, "commit", "--all", "--message", "Nothing told")
    git(tree, "tag", "v1.2.3")
    return "no section [1.2.3]"


@pytest.mark.parametrize("fault", [untagged, of_another_version, changed, without_changes_told])
def test_what_a_tag_must_not_stand_for_is_refused(fault: Callable[[Path], str], tree: Path) -> None:
    complaint = fault(tree)
    result = release(tree)
    assert result.returncode == 2
    assert complaint in result.stderr
    assert "hint:" in result.stderr
    assert not (tree / "dist").exists()
