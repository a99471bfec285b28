"""What the tests of lists share: the tools that renew them."""

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A module of the folder `tools`, which is no package."""
    monkeypatch.syspath_prepend(TOOLS)
    return importlib.import_module
