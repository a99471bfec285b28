from datetime import date

import pytest

from doctord.errors import UserError
from doctord.lint import engine
from doctord.lint.baseline import accepted, parsed
from settings_datasets import dataset

TEXT = """
[[accept]]
rule = "postgresql/fsync_*"
subject = "postgresql:5432"
reason = "filled anew every night"
until = 2027-06-30
"""
SCRATCH = dataset("postgresql", {"fsync": "off"}, db="postgresql:5432")


def test_what_is_accepted_is_not_said_and_the_reason_is() -> None:
    examined, idle = accepted(engine.examine(SCRATCH), parsed(TEXT, "b.toml"), date(2027, 6, 30))
    assert [reason for _, reason in examined.accepted] == ["filled anew every night (until 2027-06-30)"]
    assert "postgresql/fsync_off" not in {violation.rule for violation in examined.violations}
    assert idle == ()


def test_after_its_day_it_accepts_nothing_and_that_is_said() -> None:
    examined, idle = accepted(engine.examine(SCRATCH), parsed(TEXT, "b.toml"), date(2027, 7, 1))
    assert examined.accepted == ()
    assert "was accepted until 2027-06-30" in idle[0]


def test_what_accepts_nothing_any_more_is_said() -> None:
    examined = engine.examine(dataset("postgresql", {"fsync": "on"}, db="postgresql:5432"))
    assert "nobody says it" in accepted(examined, parsed(TEXT, "b.toml"), date(2026, 1, 1))[1][0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[accept]]\nrule='x'\nuntil=2027-01-01\n", "accept 1 has no reason"),
        ("[[accept]]\nrule='x'\nreason='y'\n", "until is no day"),
        ("[[accept]]\nrule='x'\nreason='y'\nuntil='soon'\n", "until is no day"),
        ("[[accept]]\nrule='x'\nreason='y'\nuntil=2027-01-01\nwho='me'\n", "what is who"),
        ("[accept", "b.toml: Expected"),
        ("[[ignore]]\nrule='x'\n", "nothing but [[accept]] is known"),
        ("accept = 3\n", "nothing but [[accept]]"),
    ],
)
def test_a_bad_baseline_is_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(UserError) as refusal:
        parsed(text, "b.toml")
    assert words in str(refusal.value)
    assert str(refusal.value).startswith("b.toml")
