"""Where prepared clusters are kept, and what goes wrong there."""

from pathlib import Path

import pytest

from doctord.lab import template
from doctord.lab.errors import LabError


@pytest.mark.parametrize("place", ["/proc", "/dev/null"])
def test_a_cache_that_cannot_be_written_is_named_with_a_hint(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", place)
    with pytest.raises(LabError, match=f"{place}/doctord/lab: N") as raised:
        template.cache_folder()
    assert raised.value.hint == "set XDG_CACHE_HOME to a folder that you may write"


def test_a_cluster_that_could_not_be_kept_is_not_kept_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_source: Path, target: Path) -> None:
        (target / "base").mkdir(parents=True)
        raise LabError("the cluster could not be prepared", "No space left on device")

    monkeypatch.setattr(template, "_copy", full)
    with pytest.raises(LabError):
        template._keep(tmp_path / "data", tmp_path / "postgresql-15")
    assert list(tmp_path.iterdir()) == []
