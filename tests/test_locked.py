"""What the set-up installs is what pyproject.toml asks for, and says nothing of where it was found."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = PROJECT["dependency-groups"]
EXTRAS = [asked for extra in PROJECT["project"]["optional-dependencies"].values() for asked in extra]
ASKED = {
    "run": PROJECT["project"]["dependencies"],
    "build": [*PROJECT["build-system"]["requires"], *GROUPS["build"]],
    "dev": [*PROJECT["project"]["dependencies"], *EXTRAS, *GROUPS["dev"]],
    "wheel": [asked for asked in GROUPS["wheel"] if isinstance(asked, str)],
}


def locked(name: str) -> dict[str, set[str]]:
    """Versions by package; more than one where the version of Python decides."""
    versions: dict[str, set[str]] = {}
    for package, version in re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==([^\s;]+)", text(name), flags=re.MULTILINE):
        versions.setdefault(canonicalize_name(package), set()).add(version)
    return versions


def text(name: str) -> str:
    return (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ASKED)
def test_everything_asked_for_is_locked_in_a_version_that_was_asked_for(name: str) -> None:
    for asked in map(Requirement, ASKED[name]):
        versions = locked(name).get(canonicalize_name(asked.name), set())
        assert versions, f"requirements/{name}.txt lacks {asked.name}: run `make lock`"
        assert all(asked.specifier.contains(version) for version in versions), (
            f"{asked}, not {versions}: run `make lock`"
        )


@pytest.mark.parametrize("name", ASKED)
def test_what_two_files_lock_is_the_same_version(name: str) -> None:
    tried = locked("dev")
    assert {package: tried.get(package, versions) for package, versions in locked(name).items()} == locked(name)


@pytest.mark.parametrize("name", ASKED)
def test_a_lock_has_hashes_and_names_no_host(name: str) -> None:
    assert text(name).count("==") <= text(name).count("--hash=sha256:")
    assert "//" not in text(name)
