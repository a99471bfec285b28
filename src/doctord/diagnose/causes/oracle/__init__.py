"""Oracle's own: its waits, its memory, its parsing, its cluster, what it says itself."""
