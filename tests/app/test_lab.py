"""What the lab asks of the check-up."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from doctord.app import lab
from doctord.lab.server import PrivateServer


def test_its_server_is_judged_as_one_that_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def diagnose(_source: object, **how: Any) -> SimpleNamespace:
        asked.update(how)
        return SimpleNamespace(diagnosis="told")

    monkeypatch.setattr(lab, "diagnose", diagnose)
    assert lab.diagnosed(cast("PrivateServer", SimpleNamespace(dsn="host=here", beside=[])), 1.0, None) == "told"
    assert asked["servers"] == 1
