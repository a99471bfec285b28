"""Who holds the time, in words."""

from dataclasses import replace

from doctord.analyse.sql.top_time import Holder
from doctord.diagnose.finding import TimeShare
from doctord.report.diagnosis.holders import NOT_MEASURED, headline, rows
from report import examples


def test_the_head_says_what_holds_most_and_by_whom() -> None:
    on_cpu = replace(examples.ONE, time=(TimeShare("CPU", "CPU", 1.2, 0.73),))
    assert headline(on_cpu) == "Most time: CPU 73 %; statement 8112 83 %, program pgbench 97 %"
    assert headline(replace(on_cpu, top=())) == "Most time: CPU 73 %"


def test_without_a_database_nobody_holds_its_time() -> None:
    assert headline(examples.HOST_ONLY) == ""
    assert headline(examples.EMPTY) == ""


def test_what_was_not_measured_is_a_dash() -> None:
    (row,) = rows(replace(examples.ONE, top=(Holder("segment", "oracle:A", "APP.SALE", gets_share=0.5),)))
    assert row == (NOT_MEASURED, NOT_MEASURED, "50 %", *[NOT_MEASURED] * 3, "segment APP.SALE")


def test_the_server_is_named_where_there_are_several() -> None:
    two = (Holder("user", "oracle:A", "app", share=0.5), Holder("user", "oracle:B", "app", share=0.4))
    assert [row[-1] for row in rows(replace(examples.ONE, top=two))] == ["user app of oracle:A", "user app of oracle:B"]
