"""Tools that Linux, Solaris, AIX and HP-UX have alike: vmstat, uptime, top, ps, netstat."""
