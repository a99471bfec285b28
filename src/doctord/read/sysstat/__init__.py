"""sysstat: sar's binary and text files and JSON, iostat, mpstat, pidstat."""
