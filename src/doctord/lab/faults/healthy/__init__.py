"""Runs in which nothing is wrong, odd as some of them look."""
