"""Of memory: what it lacks, who takes it, and how it is mapped."""
