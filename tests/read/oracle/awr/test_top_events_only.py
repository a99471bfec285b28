"""Reports that tell their waits by a list of top events alone: of a cluster in 11.2, and those that were cut."""

from pathlib import Path

import pytest

from doctord.analyse.figures import cpus_told
from doctord.analyse.time import UNACCOUNTED, time_model
from doctord.dataset.dataset import Dataset
from doctord.diagnose.case import Case
from doctord.read.formats import read_file
from reading import SAMPLES

FULL, AFTER = '<h3 class="awr">Foreground Wait Events (Global)', '<h3 class="awr">Wait Event Histogram (Global)'
CLASSES = """<h3 class="awr">Foreground Wait Classes</h3>
<table border="0" summary="Foreground Wait Classes">
<tr><th>I#</th><th>User I/O(s)</th><th>Sys I/O(s)</th><th>Cluster(s)</th><th>DB CPU(s)</th><th>DB time(s)</th></tr>
<tr><td>1</td><td>200.00</td><td>0.00</td><td>800.00</td><td>1,800.00</td><td>3,600.00</td></tr>
<tr><td>2</td><td>150.00</td><td>0.00</td><td>200.00</td><td>901.50</td><td>1,803.00</td></tr>
</table><p />
"""


def of_11_2(tmp_path: Path, classes: str = "") -> Dataset:
    head, _, rest = (SAMPLES / "awr.rac.html").read_text().partition(FULL)
    text = head.replace("Top Timed Foreground Events", "Top Timed Events") + classes + AFTER + rest.partition(AFTER)[2]
    file = tmp_path / "awr.html"
    file.write_text(text)
    return Dataset.from_batches(read_file(file, zone="UTC").batches)


def seconds(dataset: Dataset) -> dict[str, float]:
    waits = dataset.frame("wait").select("event", "average_active_sessions", "interval_s").rows()
    return {event: round(active * length, 1) for event, active, length in waits if event != "CPU"}


def test_rows_of_all_instances_are_waits_of_the_cluster(tmp_path: Path) -> None:
    found = seconds(of_11_2(tmp_path))
    assert found["gc buffer busy acquire"] == 1000.0
    assert found["(the rest, not listed)"] == pytest.approx(5403 - 2701.5 - 1000, rel=1e-2)


def test_wait_classes_tell_how_much_the_list_leaves_out(tmp_path: Path) -> None:
    dataset = of_11_2(tmp_path, CLASSES)
    assert seconds(dataset)["(the rest, not listed)"] == pytest.approx(350.0, rel=1e-2)
    assert time_model(dataset).share(*UNACCOUNTED) == pytest.approx((5403 - 2701.5 - 1350) / 5403, rel=1e-2)


def test_with_all_its_events_a_report_has_no_rest() -> None:
    dataset = Dataset.from_batches(read_file(SAMPLES / "awr.rac.html", zone="UTC").batches)
    assert "(the rest, not listed)" not in seconds(dataset)


def test_a_cluster_has_the_cpus_of_all_its_nodes(tmp_path: Path) -> None:
    dataset = of_11_2(tmp_path)
    assert cpus_told(dataset) == {"left": 4, "right": 4}
    assert Case(dataset).cpus == 8
