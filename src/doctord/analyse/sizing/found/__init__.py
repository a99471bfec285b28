"""The figures of questions of size, as files, a lake or a host tell them: each is found by the name of its input."""

from doctord.analyse.sizing.found import disk, load, log, memory
from doctord.analyse.sizing.found.finder import FINDERS, Measured, find, where

__all__ = ["FINDERS", "Measured", "disk", "find", "load", "log", "memory", "where"]
