//! Logs of MySQL and MariaDB: what went wrong, and which statements were slow.

pub mod error;
pub mod slow;
