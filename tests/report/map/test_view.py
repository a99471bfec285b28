"""What keys do to the view of a map."""

from doctord.report.map.terminal import frame
from doctord.report.map.view import SCALES, View, pressed
from maps import bimodal_with_bursts, map_of

FRAME = frame(map_of(100, bimodal_with_bursts), View(), (80, 40), "none")


def after(view: View, *keys: str) -> View:
    for key in keys:
        view = pressed(view, key, FRAME.grid, FRAME.older)
    return view


def test_space_pauses_and_goes_on_at_the_newest() -> None:
    paused = after(View(), "space")
    assert paused.paused
    moved = after(paused, "left", "left")
    assert moved.cursor == (1, len(FRAME.grid.rows) // 2)
    assert after(moved, "space") == View()


def test_the_first_arrow_shows_the_cursor_and_holds_the_map() -> None:
    view = after(View(), "up")
    assert view.paused
    assert view.cursor is not None


def test_the_cursor_stays_on_the_map() -> None:
    rows = len(FRAME.grid.rows)
    assert after(View(cursor=(0, rows - 1)), "up").cursor == (0, rows - 1)
    assert after(View(cursor=(0, 0)), "down").cursor == (0, 0)


def test_at_the_left_end_time_goes_back() -> None:
    at_end = View(cursor=(len(FRAME.grid.columns) - 1, 0))
    assert after(at_end, "left").back == 10
    assert after(View(cursor=(0, 0), back=10), "right").back == 0
    assert after(View(), "home").back == FRAME.older
    assert after(View(back=30), "end").back == 0


def test_scales_come_round() -> None:
    assert after(View(), *("s" for _ in SCALES)) == View()


def test_fewer_latencies_and_all_again() -> None:
    fewer = after(View(), "<")
    assert fewer.low_us == FRAME.grid.rows[1].gt_us
    assert fewer.high_us == FRAME.grid.rows[-2].le_us
    shown = frame(map_of(100, bimodal_with_bursts), fewer, (80, 40), "none")
    assert sum(cell.count for cell in shown.grid.columns[0] or ()) == sum(
        cell.count for cell in FRAME.grid.columns[0] or ()
    )
    assert after(fewer, ">") == View()


def test_other_keys_change_nothing() -> None:
    assert after(View(), "x") == View()
