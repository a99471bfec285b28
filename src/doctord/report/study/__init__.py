"""Before and after, shown."""
