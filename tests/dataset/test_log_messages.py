"""What is known of messages of PostgreSQL's log."""

from pathlib import Path

import pytest

from doctord.dataset.log_messages import USUAL, known, messages
from doctord.diagnose.engine import CAUSES
from doctord.diagnose.finding import SEVERITIES


def test_each_names_causes_that_there_are_and_says_something() -> None:
    for one in messages():
        assert one.severity in (*SEVERITIES, USUAL), one.words
        assert {*one.causes} <= CAUSES.keys(), one.words
        assert one.words == one.words.lower(), one.words
        assert one.severity == USUAL or (one.meaning and one.collect), one.words


def test_none_is_hidden_by_one_before_it() -> None:
    before = list[str]()
    for one in messages():
        assert not [words for words in before if words in one.words], one.words
        before.append(one.words)


@pytest.mark.parametrize(
    ("message", "severity"),
    [
        ("invalid record length at 0/3000060: wanted 24, got 0", USUAL),
        ("incorrect resource manager data checksum in record at 0/1", USUAL),
        ("page verification failed, calculated checksum 1 but expected 2", "critical"),
        ("/etc/postgresql/pg_hba.conf was not reloaded", "warning"),
        ("could not fork new process for connection: Resource temporarily unavailable", "critical"),
        ("could not receive data from client: Connection reset by peer", USUAL),
        ('database "shop" must be vacuumed within 3000000 transactions', "critical"),
    ],
)
def test_messages_of_the_server(message: str, severity: str) -> None:
    found = known(message)
    assert found is not None
    assert found.severity == severity


def test_the_file_lies_beside_the_module() -> None:
    assert Path(messages.__wrapped__.__code__.co_filename).with_suffix(".csv").exists()
