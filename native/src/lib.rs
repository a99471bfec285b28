//! What is behind `doctord._native`: what must be fast or small. Python decides, Rust moves the bytes.
//!
//! `module/` makes Python's module of it, and nothing else: what is linked for Python is compiled only when all that it
//! needs is, parquet above all, and this crate can be compiled beside that (docs/decisions/0011).

pub mod arrays;
pub mod batch;
pub mod call_counter;
pub mod calltrace;
pub mod column;
pub mod histograms;
pub mod host;
pub mod identity;
pub mod lake;
pub mod latency;
pub mod oracle_report;
pub mod rows;
pub mod sar;
pub mod scrub;
pub mod server_log;
mod sheet;
pub mod sql_tokens;
pub mod sql_trace;
pub mod syscalls;
pub mod table;
