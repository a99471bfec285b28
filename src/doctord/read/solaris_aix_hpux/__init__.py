"""Tools of Solaris, AIX and HP-UX: iostat, mpstat, prstat, kstat, trapstat, lparstat, vxtrace."""
