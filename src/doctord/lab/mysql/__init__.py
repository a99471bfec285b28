"""The lab's MariaDB and MySQL: private servers, their light load, and their faults."""
