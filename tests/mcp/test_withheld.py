"""What is withheld from assistants that may not see strangers' words."""

import pytest

from doctord.errors import UserError
from doctord.mcp.withheld import WITHHELD, check, withheld


def test_names_that_strangers_chose_and_texts_are_withheld_wherever_they_stand() -> None:
    answer = {
        "moved": [{"dimension": "program", "name": "drop it", "before": 0.0, "after": 2.0}],
        "top": [{"kind": "statement", "name": "77", "text": "select secret"}, {"kind": "event", "name": "WALSync"}],
        "names": [{"label": "<user 1>", "kind": "user", "text": "bob"}],
        "notes": ["a line of ours"],
        "text": None,
    }
    told = withheld(answer)
    assert told["moved"][0] == {"dimension": "program", "name": WITHHELD, "before": 0.0, "after": 2.0}
    assert told["top"] == [{"kind": "statement", "name": "77", "text": WITHHELD}, {"kind": "event", "name": "WALSync"}]
    assert told["names"] == [{"label": "<user 1>", "kind": "user", "text": WITHHELD}]
    assert (told["notes"], told["text"]) == (answer["notes"], None)


@pytest.mark.parametrize("given", [{"dimension": "user"}, {"dimension": "event", "where": {"program": "psql"}}])
def test_what_would_be_answered_by_such_names_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(UserError) as refused:
        check(given)
    assert "--show-statements" in refused.value.hint
    check({"dimension": "event", "where": {"wait_class": "Lock"}})
