"""`make demo`: a server, a load and a page, and nothing of them after Ctrl-C."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

DEMO = Path(__file__).parents[2] / "tools/demo.py"


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that the server's user reaches, which those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="demo-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.server
def test_the_demo_serves_its_own_server_and_leaves_nothing_behind(folder: Path) -> None:
    command = [sys.executable, DEMO, "--port", "0"]
    environment = os.environ | {"TMPDIR": str(folder)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, process_group=0) as demo:
        assert demo.stdout is not None
        address = next(line.split()[-1] for line in demo.stdout if line.startswith("Doctor D: "))
        with urlopen(address) as page:  # noqa: S310 - our own, over http
            assert page.status == 200
        os.killpg(demo.pid, signal.SIGINT)  # as a terminal sends it
        told = demo.communicate(timeout=60)[0]
    assert demo.returncode in {0, 130}, told
    assert [path.name for path in folder.iterdir() if path.name.startswith("doctord-")] == []
