"""What a trace of system calls shows."""
