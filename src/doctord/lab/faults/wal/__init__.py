"""Faults of the log: commits, checkpoints, standbys, archiving."""
