"""Analyses: pure functions from charts to answers; nothing here does I/O."""
