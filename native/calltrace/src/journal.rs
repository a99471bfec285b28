//! What is kept of a trace: its processes, and of each the calls it made, in order, 16 bytes a call.
//!
//! The digest writes it while the trace streams by; the analyses read it afterwards. Sums (`profile`) are over the
//! whole trace; calls in detail are kept up to a limit, so that memory stays bounded whatever the size of the trace.

use crate::layout::Layout;
use crate::names::Class;

/// Index of a process in `Journal::processes`.
pub type ProcessId = u32;
/// Index in `Journal::sites`.
pub type SiteId = u32;

#[derive(Debug, Default)]
pub struct Journal {
    pub layout: Layout,
    pub processes: Vec<Process>,
    pub sites: Vec<Site>,
    /// All names of calls that occurred.
    pub calls: Vec<CallName>,
    /// Calls that were counted in the sums only, because the limit of detail was reached.
    pub calls_without_detail: u64,
    pub channels: u32,
}

impl Journal {
    /// A number for a pipe, or for one direction of a socket pair; never 0.
    pub fn new_channel(&mut self) -> u32 {
        self.channels += 1;
        self.channels
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallName {
    pub name: String,
    pub class: Class,
}

/// A call together with those of its arguments that make it the same call when it comes again.
#[derive(Clone, Debug)]
pub struct Site {
    /// Index in `Journal::calls`.
    pub call: u16,
    pub class: Class,
    /// The arguments as they stood the first time, contents of buffers left out.
    pub arguments: String,
    /// The descriptor's path or peer, where the trace shows it; empty otherwise.
    pub target: String,
}

/// One call of one process. Time is in nanoseconds since the trace began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    pub start_ns: u64,
    /// Seconds until it returned; NaN when the trace does not say.
    pub elapsed_s: f32,
    site_and_failed: u32,
}

const FAILED: u32 = 1 << 31;

impl Entry {
    pub fn new(start_ns: u64, elapsed_s: f32, site: SiteId, failed: bool) -> Entry {
        Entry {
            start_ns,
            elapsed_s,
            site_and_failed: site | if failed { FAILED } else { 0 },
        }
    }

    pub fn site(&self) -> SiteId {
        self.site_and_failed & !FAILED
    }

    pub fn failed(&self) -> bool {
        self.site_and_failed & FAILED != 0
    }

    /// When it returned; its start when the trace does not say how long it took.
    pub fn end_ns(&self) -> u64 {
        self.start_ns + (f64::from(self.elapsed_s.max(0.0)) * 1e9).round() as u64
    }
}

/// How a process came into the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Birth {
    /// It was there, or its start was not seen.
    #[default]
    Unseen,
    Forked,
    /// A thread of its parent.
    Thread,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Exited(i64),
    Killed(String),
}

/// A call's meaning for other processes, by the index of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A fork that returned this child.
    Bore(ProcessId),
    /// A wait that returned this child.
    Reaped(ProcessId),
    /// Data went into this channel (a pipe, or one direction of a socket pair).
    Gave(u32),
    /// Data came out of this channel.
    Took(u32),
}

/// A process, or a thread of one.
#[derive(Clone, Debug, Default)]
pub struct Process {
    pub pid: u32,
    /// truss names threads within the process; 0 otherwise.
    pub thread: u32,
    pub parent: Option<ProcessId>,
    pub birth: Birth,
    /// When its parent's fork made it, or its first line stands.
    pub began_ns: u64,
    pub end: Option<(u64, End)>,
    /// What it executed last; empty when not seen.
    pub program: String,
    /// In order of their return.
    pub entries: Vec<Entry>,
    /// CPU seconds of each entry; empty when the trace does not give them.
    pub cpu_s: Vec<f32>,
    /// In order of their entries.
    pub deeds: Vec<(u32, Deed)>,
    /// Excerpts: seconds before an entry that the trace does not show, by the index of that entry.
    pub gaps: Vec<(u32, f32)>,
    pub signals: u64,
}
