"""Sets of breaks: what is written down of each, and how a run of one is judged without a person."""

from pathlib import Path

import pytest

from benchmark_modules import benchmark
from doctord.errors import UserError

cases = benchmark("breaks.break_cases")
SETS = sorted((Path(__file__).parents[2] / "benchmarks/breaks").glob("*.toml"))


@pytest.mark.parametrize("path", SETS, ids=[path.stem for path in SETS])
def test_a_set_says_what_is_right_of_each_break(path: Path) -> None:
    found = cases.read(path)
    assert len({one.name for one in found}) == len(found) > 0
    assert all(one.right and one.source and one.services for one in found)


def test_a_key_that_is_not_known_is_told_with_the_break(tmp_path: Path) -> None:
    path = tmp_path / "set.toml"
    path.write_text('[[break]]\nname = "x"\nsays = ""\nsource = ""\nright = ""\nsgl = "select 1"\n')
    with pytest.raises(UserError, match=r"set\.toml: break x: .*sgl"):
        cases.read(path)


def test_what_a_server_cannot_do_is_told_before_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "set.toml"
    told = 'name = "x"\nsays = ""\nsource = ""\nright = ""\nrestart = true\n'
    path.write_text(f'[[break]]\nengine = "mysql"\n{told}')
    with pytest.raises(UserError, match=r"break x: only a break of PostgreSQL"):
        cases.read(path)
    path.write_text(f"[[break]]\n{told}")
    assert cases.read(path)[0].restart
