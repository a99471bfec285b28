//! Reads system-call traces of strace, truss and perf trace, of any size, and says where the time went.

pub mod details;
pub mod digest;
pub mod digits;
pub mod event;
pub mod input;
pub mod journal;
pub mod layout;
pub mod names;
pub mod profile;
pub mod strace;
