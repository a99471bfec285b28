"""Of the log of changes (WAL, redo): commits, checkpoints, the archive, standbys and slots."""
