"""Traces of system calls: read from files or made now, then examined."""
