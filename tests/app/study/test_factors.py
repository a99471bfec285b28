from pathlib import Path

import pytest

from doctord.app.study.factors import of_table
from doctord.errors import UserError
from doctord.report.study.factors import document, render

RUNS = ((10.0, 4, "on"), (7.0, 64, "off"), (10.2, 4, "off"), (7.1, 64, "on")) * 2


def table(folder: Path, *lines: str, head: str = "run,work_mem,jit,elapsed_s") -> Path:
    path = folder / "runs.csv"
    path.write_text("\n".join((head, *lines)) + "\n")
    return path


def whole(folder: Path) -> Path:
    return table(folder, *(f"{place},{memory},{jit},{took}" for place, (took, memory, jit) in enumerate(RUNS)))


def test_factors_are_the_columns_of_few_levels(tmp_path: Path) -> None:
    found = of_table(whole(tmp_path), "elapsed_s")
    assert (found.better, found.left_out) == ("low", ["run"])
    assert [one.factors for one in found.effects.found][:2] == [("work_mem",), ("jit",)]
    assert found.healthy
    text = render(found, 80, colour=False)
    assert text.startswith("Largest effect: work_mem 4 to 64 -30 %")
    assert max(map(len, text.splitlines())) <= 80
    told = document(found)
    assert (told["runs"], told["effects"][0]["outcome"]) == (8, "better")


def test_factors_may_be_named(tmp_path: Path) -> None:
    found = of_table(whole(tmp_path), "elapsed_s", ["jit"])
    assert [one.factors for one in found.effects.found] == [("jit",)]
    assert found.left_out == ["run", "work_mem"]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["1,4,on,10", "2,8,on,>60", "3,4,on,9", "4,8,on,9"], "line 3: '>60' is a bound"),
        (["1,4,on,10", "2,8,on,", "3,4,on,9", "4,8,on,9"], "line 3: '' is no number"),
        (["1,4,on,10", "2,8,on,nan", "3,4,on,9", "4,8,on,9"], "line 3: 'nan' is no number"),
        (["1,4,on,10", "2,8,on,0", "3,4,on,9", "4,8,on,9"], "line 3: '0' is not above zero"),
        (["1,4,on,10", "2,,on,9", "3,4,on,9", "4,8,on,9"], "line 3: work_mem is not told"),
        (["1,4,on,10", "2,8,on,9,9", "3,4,on,9", "4,8,on,9"], "line 3: more cells than"),
        (["1,4,on,10", "2,4,on,9", "3,4,on,9", "4,4,on,9"], "no factor was varied"),
        (["1,4,on,10", "2,8,on,9"], "2 runs are too few"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(tmp_path: Path, lines: list[str], says: str) -> None:
    with pytest.raises(UserError, match=says):
        of_table(table(tmp_path, *lines), "elapsed_s", ["work_mem", "jit"])


def test_unknown_columns_and_directions_are_refused(tmp_path: Path) -> None:
    path = whole(tmp_path)
    with pytest.raises(UserError, match="there is no column 'tps'"):
        of_table(path, "tps")
    with pytest.raises(UserError, match="is it good when 'work_mem' is high, or low"):
        of_table(path, "work_mem")
    assert of_table(path, "work_mem", ["jit"], "high").better == "high"
    for wrong in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(UserError):
            of_table(wrong, "elapsed_s")
