"""What texts of interactive tools have in common: reports at a moment, tables under headings, numbers and times."""
