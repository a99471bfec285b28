"""Modules of benchmarks/, for tests of what they work out."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def benchmark(name: str) -> ModuleType:
    """A module there, which may import its neighbours; the folder is in no path afterwards, as it has a `diagnose`."""
    sys.path.append(str(BENCHMARKS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(BENCHMARKS))
