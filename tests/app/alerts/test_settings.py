from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.app.alerts.settings import Receiver, read_settings
from doctord.app.alerts.state import Silence
from doctord.errors import UserError

BOTH = """
[[to]]
kind = "alertmanager"
url = "http://127.0.0.1:9093"

[[to]]
kind = "webhook"
url_variable = "ONCALL_URL"
token_variable = "ONCALL_TOKEN"
severity = "critical"

[[silence]]
name = "row_locks"
host = "db7"
reason = "the migration, ticket 4711"
until = 2026-12-01T06:00:00Z
"""


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONCALL_URL", "https://hooks.example.org/T0/B0/a-secret")
    monkeypatch.setenv("ONCALL_TOKEN", "another secret")


def written(folder: Path, text: str) -> Path:
    file = folder / "alerts.toml"
    file.write_text(text)
    return file


def test_receivers_and_silences_are_read(tmp_path: Path) -> None:
    to, silences, page = read_settings(written(tmp_path, BOTH))
    assert page is None
    assert to == (
        Receiver("alertmanager", "http://127.0.0.1:9093", None, "warning"),
        Receiver("webhook", "https://hooks.example.org/T0/B0/a-secret", "another secret", "critical"),
    )
    assert to[1].name == "webhook hooks.example.org"
    assert silences == (
        Silence("row_locks", "db7", "the migration, ticket 4711", datetime(2026, 12, 1, 6, tzinfo=UTC)),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[to]\n", "line 1"),
        ("", "nobody is told"),
        ("to = 3", "to is no list of tables"),
        ("[[too]]", "there is no 'too'"),
        ('[[to]]\nkind = "pager"\nurl = "http://a"', "to 1: kind 'pager' is none"),
        ('[[to]]\nkind = "webhook"', "to 1: it needs either url or url_variable"),
        ('[[to]]\nkind = "webhook"\nurl = "file:///etc/passwd"', "to 1: its URL is none of http"),
        ('[[to]]\nkind = "webhook"\nurl = 5', "to 1: its URL is none of http"),
        ('[[to]]\nkind = "webhook"\nurl = "http://a"\nulr = ""', "to 1: there is no key 'ulr'"),
        ('[[to]]\nkind = "webhook"\nurl = "http://a"\nseverity = "loud"', "to 1: severity 'loud' is none"),
        ('[[to]]\nkind = "webhook"\nurl_variable = "NOT_SET_HERE"', "to 1: the variable NOT_SET_HERE is not set"),
        (BOTH.replace('reason = "the migration, ticket 4711"\n', ""), "silence 1: there is no reason"),
        (BOTH.replace("2026-12-01T06:00:00Z", '"tomorrow"'), "silence 1: until is no moment"),
        (BOTH.replace('host = "db7"', "host = 7"), "silence 1: host is no text"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_settings(written(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"alerts\.toml: No such file"):
        read_settings(tmp_path / "alerts.toml")
