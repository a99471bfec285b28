//! What tracing a running process cost: declared with the other parts, filled in by who traces (`doctord.app.traces.live`).

use crate::part::part;

part! {
    /// What the traced processes used a second; null when it could not be read.
    #[derive(Clone, Debug)]
    pub struct Used {
        /// CPU, milliseconds a second.
        pub cpu_ms_per_s: Option<f64>,
        /// Context switches a second.
        pub switches_per_s: Option<f64>,
    }
}

part! {
    /// How a running process was traced, and what that cost it.
    #[derive(Clone, Debug)]
    pub struct Live {
        /// `strace`, or `bpf`: sums by call, and the loop's passes, without single calls.
        pub how: String,
        /// The process.
        pub pid: u32,
        /// How many were traced from the start: it, and those below it.
        pub processes: u64,
        /// Resident memory of the process then.
        pub resident_bytes: Option<u64>,
        /// Its page tables, which a fork copies.
        pub page_tables_bytes: Option<u64>,
        /// How long.
        pub seconds: f64,
        /// Why it ended: `time`, `limit` (of the log), `ended` (the process did), `interrupted` (by the user).
        pub ended: String,
        /// What the processes used before they were traced.
        pub before: Used,
        /// What they used while they were traced.
        pub during: Used,
        /// What is special about `how`: why calls were not summed in the kernel.
        pub note: Option<String>,
    }
}
