"""What a recorder does without, and that psycopg does too."""

import subprocess
import sys

import pytest

from doctord.app import unused_modules

HEAVY = ("ssl", "_ssl", "_hashlib", "_ctypes", "email", "zipfile", "concurrent.futures", "statistics")
LOADED = """
import sys
from doctord.app.record import keep_out
keep_out()
from doctord.collect.host import Host
Host(dsns=["host=/nowhere port=1 user=nobody dbname=none"]).collectors()
import psycopg
print(psycopg.pq.__impl__, *(name for name, module in sys.modules.items() if module))
"""


@pytest.fixture(scope="module")
def loaded() -> list[str]:
    """How psycopg reaches libpq, and the modules of a recorder that has a server to ask, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_psycopg_is_the_compiled_one(loaded: list[str]) -> None:
    assert loaded[0] in ("binary", "c")


@pytest.mark.parametrize("module", HEAVY)
def test_a_recorder_does_not_load(module: str, loaded: list[str]) -> None:
    assert module not in loaded


def test_what_psycopg_is_denied_it_never_calls(loaded: list[str]) -> None:
    assert "psycopg.waiting" in loaded
    assert "asyncio" in loaded  # its place is taken
    assert "asyncio.events" not in loaded


def test_without_the_compiled_half_everything_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unused_modules, "find_spec", lambda _: None)
    before = dict(sys.modules)
    unused_modules.keep_out()
    assert dict(sys.modules) == before


CAUGHT = """
from doctord.app.record import keep_out
keep_out()
import psycopg
try:
    raise psycopg.OperationalError("the server went away")
except psycopg.errors._NO_TRACEBACK as error:
    print(error)
"""


def test_a_server_that_goes_away_during_a_query_is_an_error_that_psycopg_can_tell() -> None:
    done = subprocess.run([sys.executable, "-c", CAUGHT], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "the server went away", done.stderr
