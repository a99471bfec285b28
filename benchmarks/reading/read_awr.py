"""How fast AWR reports in HTML are read, every section, beside what lxml takes merely to parse the same files.

    .venv/bin/python -m pip install lxml
    .venv/bin/python benchmarks/reading/read_awr.py /path/to/awr/*.html

How it is measured: `reports.py`.
"""

from pathlib import Path

import reports

try:
    from lxml import html
except ImportError:
    raise SystemExit("the peer is missing: .venv/bin/python -m pip install lxml") from None


def parse(file: Path) -> int:
    """Parse a report, and make nothing of it."""
    return len(html.fromstring(file.read_bytes()))


if __name__ == "__main__":
    reports.compare((__doc__ or "").partition("\n")[0], "AWR reports in HTML", {"lxml.html, parsed only": parse})
