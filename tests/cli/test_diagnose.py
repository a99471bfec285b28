"""The exit status and the first line where several hosts were judged, each for itself."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from doctord import cli

HEADING = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
COLUMNS = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
LINE = "{run:2}  0      0 239471    704 611248    0    0     9    43   24    82 {usr:2}  1 {idle:2}  0  0\n"
# What `vmstat 1` prints on a host: how often, with how many tasks, and how idle.
SICK, HEALTHY, UNKNOWN = (120, 30, 1), (120, 1, 76), (1, 1, 76)


def printed(hosts: dict[str, tuple[int, int, int]]) -> str:
    """What ansible prints of vmstat on each host."""
    texts = []
    for host, (times, run, idle) in hosts.items():
        line = LINE.format(run=run, usr=99 - idle, idle=idle)
        texts.append(f"{host} | CHANGED | rc=0 >>\n{HEADING}{COLUMNS}{line * times}")
    return "".join(texts)


def run(command: str, folder: Path, hosts: dict[str, tuple[int, int, int]], *arguments: str) -> Result:
    cli.load()
    file = folder / "ansible.txt"
    file.write_text(printed(hosts))
    return CliRunner().invoke(cli.app, [command, str(file), *arguments])


@pytest.mark.parametrize(
    ("hosts", "status", "unjudged"),
    [
        ({"a": HEALTHY, "b": UNKNOWN, "c": SICK}, 1, "b"),
        ({"a": HEALTHY, "b": UNKNOWN}, 0, "b"),
        ({"a": UNKNOWN, "b": UNKNOWN}, 2, "a and b"),
        ({"a": HEALTHY, "b": HEALTHY}, 0, ""),
    ],
)
def test_the_status_of_several_hosts(
    tmp_path: Path, hosts: dict[str, tuple[int, int, int]], status: int, unjudged: str
) -> None:
    page = tmp_path / "report.html"
    for command, arguments in (("diagnose", []), ("report", ["-o", str(page)])):
        result = run(command, tmp_path, hosts, *arguments)
        assert result.exit_code == status, result.output
        first = " ".join(result.stdout.split())
        assert first.startswith(f"{len(hosts)} servers and times, each judged for itself, the worst first")
        assert (f"; no verdict on {unjudged} " in first) == bool(unjudged)
    documents = json.loads(run("diagnose", tmp_path, hosts, "--json").stdout)
    health = [one["health"] for one in (documents, *documents["others"])]
    assert health == sorted(health, key=("not_healthy", "healthy", "not_judged").index)
    assert health.count("not_judged") == sum(one is UNKNOWN for one in hosts.values())


def test_a_file_is_judged_without_pandas(tmp_path: Path) -> None:
    """Pyarrow imports it, where it is installed, for each datetime that it is given: a third of a short command."""
    file = tmp_path / "vmstat.txt"
    file.write_text(HEADING + COLUMNS + LINE.format(run=1, usr=23, idle=76) * 120)
    code = "import sys; from doctord.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    run = [sys.executable, "-c", code, "diagnose", str(file)]
    loaded = subprocess.run(run, capture_output=True, text=True, timeout=180, check=False).stderr.split()
    assert "doctord.diagnose.engine" in loaded
    assert "pandas" not in loaded
