"""What settings should be: one file per question, each answered with its arithmetic."""
