"""Report: one self-contained HTML file per examination."""
