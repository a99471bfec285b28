"""Traces of system calls: verdict, tables, the timeline of a pass."""
