"""The healthy run, and odd but healthy ones."""
