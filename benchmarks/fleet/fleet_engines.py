r"""Whether a fleet gets the same verdicts on each engine: row by row, sorted.

    .venv/bin/python benchmarks/fleet/fleet_engines.py /var/tmp/fleet/store --host 'db-00[5-9]?' --host 'db-01[0-4]?' \
        --engine local --engine sail --engine sc://127.0.0.1:15902

A cluster has to be there. One of two executors on this machine, with Java 17 and `pip install 'pyspark[connect]'` in an
environment of its own (it and its client, `pyspark-client`, are two packages of the same files):

    cd /tmp; SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON=/work/main/.venv/bin/python spark-submit \
        --class org.apache.spark.sql.connect.service.SparkConnectServer --master 'local-cluster[2,1,1024]' \
        --conf spark.connect.grpc.binding.port=15902 spark-internal
"""

import argparse
import json
import os
import time
from datetime import UTC, datetime, timedelta

from doctord.app.asked import Interval
from doctord.app.fleet.diagnose import diagnose_fleet
from doctord.app.fleet.hosts import Chosen, hosts_of
from doctord.app.watcher import SILENT
from doctord.fleet.processes import Processes
from doctord.fleet.spark import Spark
from doctord.report.fleet.diagnose import document


def main() -> None:
    """Diagnose the hosts on each engine, and compare with the first."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("place")
    options.add_argument("--host", action="append", default=[], help="patterns of names; none: all")
    options.add_argument("--engine", action="append", required=True)
    options.add_argument("--since", type=datetime.fromisoformat, default=datetime(2026, 11, 20, 10, tzinfo=UTC))
    options.add_argument("--minutes", type=float, default=1.5)
    asked = options.parse_args()
    hosts = hosts_of(asked.place, Chosen(asked.host), None, SILENT)
    when = Interval(asked.since, asked.since + timedelta(minutes=asked.minutes), past_s=0.0)
    first: list[str] | None = None
    for name in asked.engine:
        engine = Processes(len(os.sched_getaffinity(0))) if name == "local" else Spark(name)
        began_s = time.perf_counter()
        told = document(diagnose_fleet(asked.place, hosts, when, engine))
        seconds = time.perf_counter() - began_s
        rows = sorted(json.dumps(one, sort_keys=True) for one in told["hosts"])
        first = first or rows
        ill = sum(one["health"] == "not_healthy" for one in told["hosts"])
        same = "same" if rows == first else f"{sum(a != b for a, b in zip(rows, first, strict=False))} differ"
        print(f"{name}: {len(rows)} hosts, {ill} ill, {len(told['failed'])} failed, {same}, {seconds:.0f} s")


if __name__ == "__main__":
    main()
