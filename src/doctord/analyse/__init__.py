"""Analyses: pure functions from datasets to answers; nothing here does I/O."""
