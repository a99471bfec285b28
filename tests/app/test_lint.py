"""Whether settings are well."""

from doctord.app.lint import healthy
from doctord.lint.engine import Examined


def test_a_named_server_that_does_not_answer_is_not_health() -> None:
    seen = Examined(violations=(), looked_at=("vm: 36 settings of kernel",), servers=frozenset({"mysql:3306"}))
    assert healthy(seen, servers=1) is True
    assert healthy(seen, servers=2) is None
