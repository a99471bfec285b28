"""A long log of strace for the benchmarks, made by repeating a short real one.

    .venv/bin/python benchmarks/reading/trace_log.py SAMPLE /var/tmp/trace500.log --megabytes 500

SAMPLE is a log of `strace -f -ttt -T -o`. Each copy has its time stamps shifted by the sample's span, so that time goes
on; everything else stays as it was, pids too, so that they are reused.
"""

import argparse
import re
from pathlib import Path

STAMP = re.compile(rb"^(\d+ +)(\d{10})\.(\d{6})(?= )", re.MULTILINE)
GAP_US = 1000  # between the end of a copy and the start of the next


def main() -> None:
    """Write the log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sample", type=Path, help="a log of strace -f -ttt -T -o")
    parser.add_argument("out", type=Path, help="the log to write")
    parser.add_argument("--megabytes", type=int, default=500, help="least size in units of 1,000,000 bytes")
    arguments = parser.parse_args()
    copies = repeat(arguments.sample.read_bytes(), arguments.out, arguments.megabytes * 1_000_000)
    print(f"{arguments.out}: {arguments.out.stat().st_size:,} bytes, {copies} copies")


def repeat(sample: bytes, out: Path, least_bytes: int) -> int:
    """Write whole copies of the sample, at least one, until there are enough bytes; return how many there are."""
    if not sample.endswith(b"\n"):
        sample = sample[: sample.rfind(b"\n") + 1]
    stamps_us = [int(seconds + micros) for _, seconds, micros in STAMP.findall(sample)]
    if not stamps_us:
        raise SystemExit("no line of the sample begins with a pid and a stamp of -ttt")
    span_us = max(stamps_us) - min(stamps_us) + GAP_US
    copies = -(-least_bytes // len(sample))
    with out.open("wb") as log:
        for copy in range(copies):
            log.write(shifted(sample, copy * span_us))
    return copies


def shifted(sample: bytes, by_us: int) -> bytes:
    """The sample with its stamps later by so many microseconds."""

    def later(line: re.Match[bytes]) -> bytes:
        seconds, micros = divmod(int(line[2] + line[3]) + by_us, 1_000_000)
        return b"%b%010d.%06d" % (line[1], seconds, micros)

    return STAMP.sub(later, sample)


if __name__ == "__main__":
    main()
