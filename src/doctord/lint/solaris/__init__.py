"""Rules on Solaris: /etc/system, and the drivers' own files."""
