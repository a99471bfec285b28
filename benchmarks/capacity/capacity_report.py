"""The capacity report of a year of hours of one host: sixty figures, each with a threshold.

The lake is that of `capacity_profile.py`. What the forecasts alone take stands beside the whole.
"""

import argparse
import time
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from capacity_profile import DAYS, END, year

from doctord.analyse.capacity.action_plan import action_plan
from doctord.analyse.capacity.outlook import outlook
from doctord.analyse.capacity.series import DAY_S
from doctord.analyse.capacity.thresholds.plan import Plan
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.app.capacity.history import history
from doctord.dataset.figure import Figure
from doctord.report.capacity import html as capacity_html
from doctord.report.capacity import report as capacity_report

WITHIN_S = 90.0 * DAY_S


def main() -> None:
    """Measure, and print one line for each part."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--figures", type=int, default=60)
    count = options.parse_args().figures
    figures = [
        Figure(f"figure_{n}", f"figure {n}", "workload", "statistic", f"value + {n}", "per_s") for n in range(count)
    ]
    plan = Plan("Do it.", "dba", 7.0 * DAY_S)
    limits = [Threshold(one.name, one.name, 80.0 + 2.0 * n, plan=plan) for n, one in enumerate(figures)]
    with TemporaryDirectory() as folder:
        lake = year(Path(folder), figures, 1, buckets=False)
        begun = time.perf_counter()
        measured = history(lake, figures, END - timedelta(days=DAYS), END)
        read = time.perf_counter()
        items = outlook(measured, limits, WITHIN_S)
        told = time.perf_counter()
        found = action_plan(items, measured, limits)
        document = capacity_report.document_of(found, WITHIN_S, [])
        page = capacity_html.render(found, document, END)
        done = time.perf_counter()
    print(f"{count} figures, {DAYS} days of hours: {document['counts']}")
    print(f"  histories  {read - begun:.2f} s")
    print(f"  forecasts  {told - read:.2f} s")
    print(f"  page       {done - told:.2f} s, {len(page) / 1e6:.2f} MB")
    print(f"  together   {done - begun:.2f} s")


if __name__ == "__main__":
    main()
