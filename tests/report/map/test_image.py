from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from math import inf
from xml.etree.ElementTree import Element, fromstring

from PIL import Image

from doctord.analyse.latency.histogram import Bucket, Histogram
from doctord.analyse.latency.map import LatencyMap, Marker
from doctord.report.map.image import draw, png, svg
from doctord.report.palettes import BLUE, RED
from maps import T0, bimodal_with_bursts, map_of, of_means, powers

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawn: LatencyMap) -> list[str]:
    return [element.text or "" for element in root(drawn).iter(f"{SVG}text")]


def root(drawn: LatencyMap) -> Element:
    return fromstring(svg([drawn]))  # noqa: S314 - our own output


def with_overflow(second: int) -> Histogram:
    return powers({6: 10, 7: 20}).merge(Histogram.of([Bucket(128.0, inf, second)]))


def test_title_interval_and_latencies_are_said() -> None:
    said = texts(map_of(60, bimodal_with_bursts))
    assert said[0] == "smgr read, postgresql:5432 on vm"
    assert "2026-11-21 05:59:59 to 06:00:59 UTC, 60 columns of 1 s" in said[1]
    assert any("% took around" in text for text in said[2:5])
    assert said.count("128 us") == 2
    assert "06:00:30" in said


def test_counts_are_blue_and_times_red() -> None:
    fills = {element.get("fill") for element in root(map_of(60, bimodal_with_bursts)).iter(f"{SVG}path")}
    assert {"#{:02x}{:02x}{:02x}".format(*palette[-1]) for palette in (BLUE, RED)} <= fills


def test_a_gap_is_hatched_and_an_idle_second_is_not() -> None:
    def hatches(drawn: LatencyMap) -> int:
        return sum(element.get("stroke") == "#d5dae0" and "L" in element.get("d", "") for element in root(drawn).iter())

    assert hatches(map_of(10, lambda second: None if second == 4 else powers({6: 1}))) == 2
    assert hatches(map_of(10, lambda second: powers({6: 0 if second == 4 else 1}))) == 0


def test_what_is_above_the_last_edge_has_a_row_of_its_own() -> None:
    assert "> 128 us" in texts(map_of(10, with_overflow))
    assert "> 128 us" not in texts(map_of(10, lambda second: powers({7: second})))


def test_means_are_marks_and_say_so() -> None:
    drawn = of_means(20)
    assert "mean only" in " ".join(texts(drawn))
    # Of 20 columns one is a gap and one idle: 18 marks in each map.
    marks = [element.get("d", "") for element in root(drawn).iter(f"{SVG}path") if element.get("shape-rendering")]
    assert sum(path.count("v4h") for path in marks) == 2 * 18


def test_markers_are_said_and_drawn_only_inside_of_the_time_shown() -> None:
    inside = Marker(T0 + timedelta(seconds=5), "restart", "server <started> again")
    outside = Marker(T0 + timedelta(hours=1), "gap", "too late")
    said = texts(map_of(10, bimodal_with_bursts, inside, outside))
    assert "06:00:05 restart: server <started> again" in [" ".join(text.split()) for text in said]
    assert "too late" not in " ".join(said)


def test_the_picture_in_pixels_shows_the_cells() -> None:
    image = Image.open(BytesIO(png([map_of(60, bimodal_with_bursts)]))).convert("RGB")
    seen = {colour for _, colour in image.getcolors(1 << 24) or []}
    assert {BLUE[-1], RED[-1]} <= seen


def test_more_columns_than_pixels_make_a_wider_picture() -> None:
    image = Image.open(BytesIO(png([map_of(1500, lambda _: powers({6: 1}))])))
    assert image.size[0] > 2 * 1500


def test_maps_stand_below_each_other_and_an_empty_one_is_drawn() -> None:
    one = map_of(10, bimodal_with_bursts)
    empty = replace(one, columns=())
    pictures = [draw(maps, 24, "root") for maps in ([one], [empty], [one, empty])]
    heights = [picture.height for picture in pictures]
    assert heights[0] + heights[1] == heights[2]
