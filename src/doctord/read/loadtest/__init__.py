"""Load generators: fio."""
