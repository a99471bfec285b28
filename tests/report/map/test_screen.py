"""What is on a screen of growing maps, and what keys change on it."""

from dataclasses import replace

from doctord.report.map.screen import Screen
from doctord.report.map.view import View
from maps import bimodal_with_bursts, map_of

FIRST = map_of(100, bimodal_with_bursts)
SECOND = replace(FIRST, subject="smgr write")
MAPS = [(FIRST, FIRST.whole), (SECOND, SECOND.whole)]
SIZE = (80, 40)


def test_a_screen_waits_for_the_first_interval_and_for_room() -> None:
    assert "waiting for the first interval" in Screen(View(), "LIVE").lines([], SIZE, "none")[0]
    assert "a map needs" in Screen(View(), "LIVE").lines(MAPS, (30, 10), "none")[0]


def test_the_next_map_begins_anew() -> None:
    screen = Screen(View(), "LIVE")
    assert "LIVE" in screen.lines(MAPS, SIZE, "none")[0]
    screen.press("up")
    screen.press("n")
    assert screen.view.cursor is None
    assert screen.lines(MAPS, SIZE, "none")[0].startswith("smgr write")
    screen.press("n")
    assert screen.lines(MAPS, SIZE, "none")[0].startswith("smgr read")


def test_what_is_paused_stays_while_the_map_grows() -> None:
    screen = Screen(View(), "LIVE")
    before = screen.lines(MAPS, SIZE, "none")[1:]
    screen.press("space")
    screen.lines(MAPS, SIZE, "none")
    longer = map_of(130, bimodal_with_bursts)
    paused = screen.lines([(longer, FIRST.whole)], SIZE, "none")
    assert "PAUSED" in paused[0]
    assert paused[1:] == before
    screen.press("space")
    assert screen.lines([(longer, FIRST.whole)], SIZE, "none")[1:] != before
