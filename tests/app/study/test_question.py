import pytest

from doctord.analyse.study.targets import Target
from doctord.app.study.question import target
from doctord.errors import UserError


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("commit_ms < 2", Target("commit_ms", "<", 2.0, "ms")),
        ("log file sync <= 5 ms", Target("log file sync", "<=", 5.0, "ms")),
        ("pgbench.run_tps > 1000", Target("pgbench.run_tps", ">", 1000.0, None)),
        ("over_limit_per_day<=30", Target("over_limit_per_day", "<=", 30.0, None)),
    ],
)
def test_a_target_is_a_figure_an_operator_and_a_value(text: str, told: Target) -> None:
    assert target(text) == told


@pytest.mark.parametrize("text", ["", "commit_ms", "commit_ms < fast", "< 2", "x = 2", "commit < 2 parsecs"])
def test_what_is_no_target_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UserError) as refusal:
        target(text)
    assert refusal.value.hint
