//! Reads system-call traces of strace, truss and perf trace, of any size, and says where the time went.

pub mod analyse;
pub mod details;
pub mod detect;
pub mod digest;
pub mod digits;
pub mod document;
pub mod event;
pub mod forks;
pub mod growth;
pub mod input;
pub mod journal;
pub mod layout;
pub mod names;
pub mod part;
pub mod passes;
pub mod path;
pub mod perf_trace;
pub mod pipeline;
pub mod profile;
pub mod quantize;
pub mod repeat;
pub mod roles;
pub mod strace;
pub mod totals;
pub mod truss;

#[cfg(test)]
mod script;
