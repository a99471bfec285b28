"""Of the write-ahead log: what keeps it, who reads it, and how long its room lasts."""
