import json
import re
from pathlib import Path

import pytest

from damages import make
from in_process import doctord

pytestmark = pytest.mark.slow


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A lake with a flipped bit."""
    path = tmp_path / "lake"
    make(path)
    file = min(path.glob("sealed/statistic/*/*.parquet"))
    content = bytearray(file.read_bytes())
    content[50] ^= 4
    file.write_bytes(content)
    return path


def test_damage_is_named_and_repaired(damaged: Path) -> None:
    verified = doctord("verify", damaged)
    assert verified.returncode == 1
    assert re.search(r"13 files, \d\d\.\d KiB: 1 of them damaged", verified.stdout)
    assert "400 of 400 rows are damaged" in verified.stdout
    assert "hint: doctord repair" in verified.stderr
    repaired = doctord("repair", damaged)
    assert repaired.returncode == 0
    assert "set aside as set_aside/sealed/statistic" in repaired.stdout
    again = doctord("verify", damaged)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.endswith(": sound\n")


def test_json_is_one_document(damaged: Path) -> None:
    document = json.loads(doctord("verify", damaged, "--json").stdout)
    assert {"files", "size_bytes", "lake"} < set(document)
    assert [flaw["kind"] for flaw in document["flaws"]] == ["damaged"]
    document = json.loads(doctord("repair", damaged, "--json").stdout)
    assert [set(flaw) for flaw in document["repaired"]] == [{"file", "kind", "text", "done"}]


def test_what_is_no_lake_is_a_refusal(tmp_path: Path) -> None:
    refused = doctord("verify", tmp_path / "nothing")
    assert refused.returncode == 2
    assert "no lake here" in refused.stderr
    assert not (tmp_path / "nothing").exists()
    refused = doctord("repair", tmp_path / "nothing")
    assert refused.returncode == 2
    assert not (tmp_path / "nothing").exists()
