"""What a lake tells of over time, for graphs: load, figures, blocking, events, a statement; and up to when."""
