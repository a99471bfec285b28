"""Every page that is written fetches, sends and runs nothing but what stands in it, and shows all the same."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest

from browser import CHROMIUM, Page, browser
from doctord.analyse.fleet.peers import Outlier
from doctord.app.fleet.diagnose import FleetVerdict, Verdict
from doctord.app.fleet.engine import Failed
from doctord.app.fleet.forecast import FleetForecast
from doctord.app.fleet.hosts import Host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.diagnosis import html
from doctord.report.fleet import page as fleet_page
from doctord.report.map.html import page as map_page
from doctord.report.study import html as study_html
from doctord.report.trace import html as trace_html
from report import examples
from report.capacity.test_html import page_of
from report.capacity_examples import agenda_of, healthy
from report.map.test_html import DRAWN
from report.study.study_examples import better
from report.trace.test_terminal import EXAMPLES

BEGIN = datetime(2026, 11, 20, 10, tzinfo=UTC)
END = BEGIN + timedelta(hours=1)
VERDICT = FleetVerdict(
    "/srv/fleet",
    BEGIN,
    END,
    hosts=(
        (
            Host("db1", "/srv/fleet/db1", labels={"role": "oltp"}),
            Verdict("not_healthy", BEGIN, END, "database", tuple(examples.EXAMPLES["three"].findings), {}),
        ),
        (Host("db2", "/srv/fleet/db2"), Verdict("healthy", BEGIN, END, "database", (), {})),
    ),
    failed=((Host("db3", "/srv/fleet/db3"), Failed("nothing was recorded")),),
    shared=(),
    outliers=(Outlier("db2", "oltp", "CPU used", 90.0, 10.0, 0.99, 100),),
)
FORECAST = FleetForecast("/srv/fleet", 90 * 86_400.0, (), ())
PAGES: dict[str, Callable[[], str]] = {
    "diagnosis": lambda: html.render(examples.EXAMPLES["three"], Dataset()),
    "trace": lambda: trace_html.render(EXAMPLES["listener"], diagnose(Dataset(), trace=EXAMPLES["listener"])),
    "capacity": lambda: page_of(agenda_of(healthy())),
    "map": lambda: map_page([DRAWN]),
    "study": lambda: study_html.render(better()),
    "fleet": lambda: fleet_page.render(VERDICT, FORECAST),
}


def test_all_pages_are_tried() -> None:
    folders = [path for path in files("doctord.report").iterdir() if path.is_dir()]
    assert {folder.name for folder in folders if folder.joinpath("page.html.j2").is_file()} == {*PAGES}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_its_policy_before_anything_else(name: str) -> None:
    before, _, _ = PAGES[name]().partition("<title>")
    assert "default-src 'none'; base-uri 'none'; form-action 'none'" in before
    assert "<style" not in before
    assert ("script-src" in before) is (name == "map")


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to open the page in")
@pytest.mark.parametrize("name", PAGES)
def test_a_browser_shows_it_and_runs_nothing_else(name: str, window: Page, tmp_path: Path) -> None:
    file, image = tmp_path / "page.html", tmp_path / "image.svg"
    image.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    foreign = f'<img src="{image.as_uri()}" onload="window.ran = 1" onerror="window.ran = 1"></body>'
    file.write_text(PAGES[name]().replace("</body>", f"<script>window.ran = 1</script>{foreign}"))
    window.open(file)
    assert window.errors == []
    assert window.value("getComputedStyle(document.documentElement).getPropertyValue('--paper')"), "its style is there"
    assert window.value("document.querySelectorAll('svg, canvas, table, p').length") > 0
    assert window.value("document.images[0].naturalWidth") == 0, "nothing is fetched"
    if name != "map":  # whose own scripts run, and so would another
        assert window.value("window.ran") is None
