"""How fast AWR and Statspack reports in text are read, every section, beside a plain loop that only splits the lines.

    .venv/bin/python benchmarks/reading/read_oracle_text.py /path/to/awr_*.txt /path/to/sp_*.txt

Beside it also: only the tables (native), and what wc takes to count the words. How it is measured: `reports.py`.
"""

import subprocess
from pathlib import Path

import reports

from doctord._native import text_tables
from doctord.read.oracle.awr.text_report import KNOWN


def tables(file: Path) -> int:
    """Find the tables of a report, and make nothing of them."""
    return len(text_tables(file.read_bytes(), KNOWN))


def split_lines(file: Path) -> int:
    """What a script of a few lines begins with: the words of each line."""
    return sum(len(line.split()) for line in file.read_text(errors="replace").splitlines())


def count_words(file: Path) -> int:
    """Count lines, words and bytes."""
    return len(subprocess.run(["wc", file], check=True, capture_output=True).stdout)


if __name__ == "__main__":
    reports.compare(
        (__doc__ or "").partition("\n")[0],
        "AWR or Statspack reports in text",
        {"doctord, tables only": tables, "Python, lines split": split_lines, "wc": count_words},
    )
