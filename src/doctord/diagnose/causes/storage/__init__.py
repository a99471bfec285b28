"""Of disks, files and the page cache."""
