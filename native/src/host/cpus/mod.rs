//! The CPUs: where their time goes, who interrupts them, which nodes they are on, and by which policy they are shared.

pub mod cpu;
pub mod interrupts;
pub mod numa;
pub mod perf;
pub mod scheduling;
mod system_calls;
