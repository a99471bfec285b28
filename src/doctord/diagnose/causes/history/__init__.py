"""What changed, and what was kept of other times: series, the own past, figures and their limits."""
