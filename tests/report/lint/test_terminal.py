"""What `doctord lint` prints on a terminal."""

import re

from doctord.lint import engine
from doctord.report.lint.terminal import render
from settings_datasets import HOST, dataset, machine


def test_a_violation_of_two_servers_is_told_once_and_names_both() -> None:
    rows = [
        {"host": HOST, "component": "postgresql", "db": f"postgresql:{port}", "name": "data_checksums", "value": "off"}
        for port in (5432, 5433)
    ]
    text = render(engine.examine(dataset("kernel", {}, setting=rows, **machine())), 100, colour=False)
    assert text.count("data_checksums = off") == 1
    assert "postgresql/data_checksums_off, postgresql:5432, postgresql:5433" in text


def test_evidence_is_a_sentence() -> None:
    seen = {"host": HOST, "component": "postgresql", "db": "postgresql:5432", "value": 4.0, "kind": "gauge"}
    rows = [
        {"host": HOST, "component": "postgresql", "db": "postgresql:5432", "name": name, "value": value}
        for name, value in (("work_mem", "1GB"), ("max_connections", "100"), ("shared_buffers", "1GB"))
    ]
    held = dataset("kernel", {}, setting=rows, statistic=[seen | {"name": "pg_stat_activity.connections"}], **machine())
    text = render(engine.examine(held), 120, colour=False)
    assert "+       pg_stat_activity.connections: 4 at the most, were open at once" in text
    assert not re.search(r"\(\)", text)
