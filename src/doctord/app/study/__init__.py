"""Before and after: files, folders, times of a lake, or two commands."""
