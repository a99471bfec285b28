"""Whether the statement that a claim is about is behind a shortage."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.shortages import may_be_behind

SCAN = Evidence("statement", "statement_id = '1'", "", "", "")
OTHER = Evidence("statement", "statement_id = '2'", "", "", "")
READING: dict[str, Any] = {"wait_class": "User I/O", "event": "DataFileRead"}


def behind(symptom: str, *sessions: dict[str, Any], for_: tuple[Evidence, ...] = (SCAN,)) -> bool:
    rows = [{"sid": 7100 + n, "serial": n} | row for n, row in enumerate(sessions)]
    claim = Claim("", impact=0.3, confidence=0.9, for_=for_)
    return may_be_behind(Case(host(sessions=rows)), "missing_index", claim, symptom)


CPU, READ = {"statement_id": "1"}, {"statement_id": "1"} | READING
CPU_OF_OTHERS, READ_OF_OTHERS = ([row | {"statement_id": "2"}] * 4 for row in (CPU, READ))


@pytest.mark.parametrize(
    ("symptom", "sessions", "is_behind"),
    [
        ("cpu_saturated", [CPU, *CPU_OF_OTHERS[:2]], True),
        ("cpu_saturated", [CPU, *CPU_OF_OTHERS], False),
        ("device_saturated", [CPU, *READ_OF_OTHERS], False),
        ("device_saturated", [READ, *CPU_OF_OTHERS], True),
        ("buffer_pool_small", [CPU, READ_OF_OTHERS[0]], False),
        ("statement_dominates", [*CPU_OF_OTHERS], True),
        ("cpu_saturated", [], True),
    ],
    ids=["a third of it", "a fifth of it", "others read", "it reads, others calculate", "in memory", "no shortage",
         "samples name no statement"],
)  # fmt: skip
def test_by_its_part_of_the_samples(symptom: str, sessions: list[dict[str, Any]], *, is_behind: bool) -> None:
    assert behind(symptom, *sessions) is is_behind


def test_who_names_several_statements_is_about_none_alone() -> None:
    assert behind("cpu_saturated", *[row | {"statement_id": "3"} for row in CPU_OF_OTHERS], for_=(SCAN, OTHER))
