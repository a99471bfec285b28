"""What comes out of a lake of which one file is damaged at random: nothing that was not written, and the file is named.

Bits flipped, zeros, noise, files cut off, made longer, bytes missing, blocks swapped; sealed files and open segments.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support" / "lakes"))

from damages import Outcome, damaged, make


def main() -> None:
    """Damage a lake again and again, and print what became of its rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--damages", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    outcome = Outcome()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        lake = Path(folder) / "lake"
        written = make(lake)
        seed = options.seed
        while outcome.damages < options.damages:
            damaged(lake, written, seed, outcome)
            seed += 1
    print(f"| what | seeds {options.seed} to {seed - 1} |\n|---|---:|")
    print(f"| damages | {outcome.damages} |")
    print(f"| every row there all the same | {outcome.unharmed} |")
    print(f"| the damaged file named | {outcome.named} |")
    print(f"| rows missing, of those in the lake | {outcome.rows_missing / outcome.rows_written:.2%} |")
    print(f"| other rows, or rows missing without a word | {len(outcome.silent)} |")
    print(f"| errors | {len(outcome.raised)} |")
    for text in (*outcome.silent, *outcome.raised):
        print(text, file=sys.stderr)
    print(f"Load at the end: {os.getloadavg()[0]:.1f}", file=sys.stderr)
    sys.exit(bool(outcome.silent or outcome.raised))


if __name__ == "__main__":
    main()
