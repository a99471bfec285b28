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

    /// The class of each site, side by side: the analyses ask for it once a call.
    pub fn classes(&self) -> Vec<Class> {
        self.sites.iter().map(|site| site.class).collect()
    }

    pub fn call_name(&self, site: SiteId) -> &str {
        &self.calls[self.sites[site as usize].call as usize].name
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

    /// Seconds until it returned; 0 when the trace does not say.
    pub fn seconds(&self) -> f64 {
        f64::from(self.elapsed_s.max(0.0))
    }

    /// When it returned; its start when the trace does not say how long it took.
    pub fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add((self.seconds() * 1e9 + 0.5) as u64)
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
pub enum Action {
    /// A fork that returned this child.
    Forked(ProcessId),
    /// A wait that returned this child.
    Reaped(ProcessId),
    /// Data went into this channel (a pipe, or one direction of a socket pair).
    Gave(u32),
    /// Data came out of this channel.
    Took(u32),
}

/// What a call did to the address space: see `growth::memory_call`, which makes it from the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryCall {
    /// Index of the call in `Process::entries`.
    pub entry: u32,
    /// Where it begins; of `brk` the new end of the heap.
    pub address: u64,
    /// 0 for `brk`, whose growth is the difference to the one before.
    pub bytes: u64,
    pub act: MemoryAct,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryAct {
    /// Address space without access: an extent that chunks are mapped into later.
    Reserve,
    /// A mapping of a descriptor, unless it lies in a reserved extent.
    MapFile,
    MapAnonymous,
    /// The same, in huge pages (MAP_HUGETLB).
    MapHuge,
    Unmap,
    Break,
    /// An exec: what was mapped before is gone.
    Begin,
    /// Asks for a page size: memcntl's MC_HAT_ADVISE, madvise's MADV_HUGEPAGE.
    AskPageSize,
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
    pub actions: Vec<(u32, Action)>,
    /// Excerpts: seconds before an entry that the trace does not show, by the index of that entry.
    pub gaps: Vec<(u32, f32)>,
    /// Calls that changed the address space, in order of their entries.
    pub memory: Vec<MemoryCall>,
    pub signals: u64,
}

impl Process {
    /// Whether the trace leaves out time before an entry.
    pub fn has_gap_before(&self, entry: u32) -> bool {
        self.gaps.binary_search_by_key(&entry, |gap| gap.0).is_ok()
    }

    /// What an entry meant for another process.
    pub fn action(&self, entry: u32) -> Option<Action> {
        let at = self.actions.binary_search_by_key(&entry, |action| action.0).ok()?;
        Some(self.actions[at].1)
    }

    /// CPU seconds of an entry; null when the trace does not give them.
    pub fn cpu_of(&self, entry: u32) -> Option<f64> {
        self.cpu_s.get(entry as usize).map(|&seconds| f64::from(seconds))
    }
}
