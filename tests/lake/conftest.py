from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A lake that does not exist yet."""
    return tmp_path / "lake"
