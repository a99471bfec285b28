"""The file that says where metrics go."""

from pathlib import Path

import pytest

from doctord.app.metrics_out.settings import read_settings
from doctord.app.receivers import Address
from doctord.errors import UserError

BOTH = """\
every_s = 30

[[to]]
kind = "remote_write"
url = "http://127.0.0.1:9090/api/v1/write"

[[to]]
kind = "otlp"
url_variable = "COLLECTOR"
token_variable = "TOKEN"
"""


def test_both_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLLECTOR", "https://otel.example.org/v1/metrics?key=secret")
    monkeypatch.setenv("TOKEN", "open sesame")
    (tmp_path / "metrics.toml").write_text(BOTH)
    settings = read_settings(tmp_path / "metrics.toml")
    assert settings.every_s == 30
    assert [one.name for one in settings.to] == ["remote_write 127.0.0.1", "otlp otel.example.org"]
    assert settings.to[1].address == Address("https://otel.example.org/v1/metrics?key=secret", "open sesame")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no [[to]]"),
        ("[[to]\n", "line 1"),
        ("often = 1\n", "there is no 'often'"),
        ("every_s = 0\n", "every_s is no number from 1 on"),
        ("every_s = true\n", "every_s is no number from 1 on"),
        ("to = 1\n", "to is no list of tables"),
        ('[[to]]\nkind = "graphite"\n', "to 1: kind 'graphite' is none"),
        ('[[to]]\nkind = "otlp"\n', "to 1: it needs either url or url_variable"),
        ('[[to]]\nkind = "otlp"\nurl = "localhost"\n', "to 1: its URL is none of http:// or https://"),
        ('[[to]]\nkind = "otlp"\nurl = "http://a"\nseverity = "warning"\n', "to 1: there is no key 'severity'"),
        ('[[to]]\nkind = "otlp"\nurl = "http://a"\ntoken_variable = "NOT_SET"\n', "the variable NOT_SET is not set"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "metrics.toml"
    path.write_text(text)
    with pytest.raises(UserError) as told:
        read_settings(path)
    assert message in str(told.value)
    assert str(path) in str(told.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        read_settings(tmp_path / "none.toml")
