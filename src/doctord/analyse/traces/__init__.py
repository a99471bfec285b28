"""Traces of system calls: where their time went, and what changed between two of them."""
