"""How much of a store is read for some minutes of one host, once what hosts shipped is compacted.

    .venv/bin/python benchmarks/fleet/fleet_reads.py /var/tmp/fleet/store --from 2026-11-20T10:30Z --minutes 5

Each object that is opened counts what is read of it: the diagnosis of these minutes, and beside it the whole of the
files that it looked into, which is what an engine reads that knows nothing of row groups.
"""

import argparse
import io
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Final

from doctord.app.asked import Interval
from doctord.app.diagnose import diagnose
from doctord.app.source import Recorded
from doctord.lake.store.folder import Folder
from doctord.lake.store.shipped import Shipped, hosts_in
from doctord.moments import parse_moment

MIB: Final = 2**20


class Counted(io.RawIOBase):
    """A file that says how much was read of it."""

    def __init__(self, path: Path, read: dict[str, int], key: str) -> None:
        """Of this path; what is read is added to what `read` has of the key."""
        self._file, self._read, self._key = path.open("rb", buffering=0), read, key

    def readable(self) -> bool:
        """See io.RawIOBase."""
        return True

    def seekable(self) -> bool:
        """See io.RawIOBase."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """See io.RawIOBase."""
        return self._file.seek(offset, whence)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] - what BufferedReader gives it
        """See io.RawIOBase."""
        count = self._file.readinto(buffer) or 0
        self._read[self._key] = self._read.get(self._key, 0) + count
        return count


class Counting(Folder):
    """A store that counts."""

    def __init__(self, place: Path) -> None:
        """In this folder."""
        super().__init__(place)
        self.place, self.read = place, dict[str, int]()

    def opened(self, key: str) -> io.BufferedReader:
        """See `Store`."""
        return io.BufferedReader(Counted(self.place / key, self.read, key))


def main() -> None:
    """Diagnose the minutes of some hosts, and say what was read."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("store", type=Path)
    options.add_argument("--from", dest="since", required=True, help="when the minutes begin")
    options.add_argument("--minutes", type=float, default=5.0)
    options.add_argument("--hosts", type=int, default=3, help="so many of them")
    asked = options.parse_args()
    since = parse_moment(asked.since)
    when = Interval(since, since + timedelta(minutes=asked.minutes), past_s=0.0)
    for host in hosts_in(Folder(asked.store))[: asked.hosts]:
        store = Counting(asked.store)
        with tempfile.TemporaryDirectory() as folder:
            found = diagnose(Recorded(Shipped(store, host, Path(folder))), when)
        whole = sum((asked.store / key).stat().st_size for key in store.read)
        print(
            f"{host}: {found.diagnosis.health}, {sum(store.read.values()) / MIB:.2f} MiB read"
            f" of {whole / MIB:.1f} MiB in {len(store.read)} files"
        )
        for key, count in sorted(store.read.items(), key=lambda one: -one[1])[:4]:
            print(f"  {count / MIB:6.2f} of {(asked.store / key).stat().st_size / MIB:6.1f} MiB  {key}")


if __name__ == "__main__":
    main()
