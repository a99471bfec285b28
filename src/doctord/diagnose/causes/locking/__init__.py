"""Of locks: who waits for whom, deadlocks, and statements that lock others out."""
