"""The lab's pooler: only one that can be started."""

from pathlib import Path

import pytest

from doctord.lab.errors import LabError
from doctord.lab.pooler import pooler
from doctord.lab.server import PrivateServer


def test_without_the_program_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctord.lab.pooler.shutil.which", lambda *_args, **_more: None)
    server = PrivateServer(tmp_path, tmp_path, tmp_path, 1, None, None)  # type: ignore[arg-type]
    with pytest.raises(LabError) as refusal, pooler(server, 1):
        pass
    assert "apt-get install pgbouncer" in refusal.value.hint
    assert server.beside == []
