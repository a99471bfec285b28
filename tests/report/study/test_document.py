import json

from doctord.report.study.document import document
from report.study.study_examples import better, of_runs


def test_the_document_has_the_verdict_and_numbers() -> None:
    told = document(better())
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert (told["verdict"], told["question"], told["change"]) == ("better", "Does it help?", "log_buffer")
    (one,) = told["parts"][0]["comparisons"]
    whole = one["time"][0]
    assert whole["low"] < whole["ratio"] < whole["high"] < 1
    assert (one["unit"], one["targets"][0]["is_met"]) == ("commit", True)
    assert one["not_recorded"] == ["setting", "plan", "relation"]


def test_a_table_of_runs_is_a_part_by_the_name_of_its_file() -> None:
    (told,) = document(of_runs())["parts"]
    assert (told["name"], told["verdict"]) == ("workflow.csv", "better")
    assert [row["name"] for row in told["comparisons"][0]["regressions"]] == ["R"]
