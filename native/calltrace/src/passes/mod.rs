//! The service loop of a process: its passes, how long each takes, and on what it waits within.

mod anchor;
mod cut;
mod lengths;
mod rows;
mod steps;
mod waits;

use rustc_hash::FxHashMap;

use crate::journal::{Journal, ProcessId, SiteId};
use crate::part::part;
use crate::path::PathPart;
use crate::roles::Roles;
use anchor::{Anchor, Sites, Waits, anchor};
pub use cut::Pass;
use cut::cut;
use lengths::Lengths;
use rows::Found;
use steps::Steps;

/// Passes that are kept for the critical path.
const MOST_KEPT: usize = 1000;
const MOST_LOOPS: usize = 50;
/// A server that spends less of its time than this in passes that accept does its work in the others.
const LEAST_ACCEPTING: f64 = 0.25;
/// What fills less of the time of a process that does not accept is one of many things that it does, and no loop.
const LEAST_LOOPING: f64 = 0.25;

part! {
    /// A service loop: what one process does again and again.
    #[derive(Clone, Debug)]
    pub struct Loop {
        /// Whose loop it is.
        pub pid: u32,
        /// Its place in the tree.
        pub role: String,
        /// What it executes.
        pub program: Option<String>,
        /// The wait for work at which a pass ends.
        pub anchor: AnchorCall,
        /// Passes, whole or not.
        pub passes: u64,
        /// Those that the trace holds whole; the figures are of these, or of the others when there is none.
        pub complete_passes: u64,
        /// Times it woke and did none of a pass's work.
        pub wakeups: u64,
        /// Length of a pass: the median.
        pub seconds_per_pass: f64,
        /// The same.
        pub p50_s: f64,
        /// 95 % took no longer.
        pub p95_s: f64,
        /// The shortest.
        pub min_s: f64,
        /// The longest.
        pub max_s: f64,
        /// The mean.
        pub mean_s: f64,
        /// Passes by length.
        pub distribution: Vec<Passes>,
        /// What one such process can serve: 1 / mean; null when passes take no time that the trace could show.
        pub max_passes_per_second: Option<f64>,
        /// No pass is whole: lengths are at least these.
        pub at_least: bool,
        /// CPU time of the process itself, in calls; null when the trace does not give it.
        pub own_cpu_s: Option<f64>,
        /// Its share of the pass.
        pub own_cpu_share: Option<f64>,
        /// Time between its calls: computing, or waiting for a CPU; null when the trace counts it to the calls (truss -D).
        pub outside_calls_s: Option<f64>,
        /// All its waits for work; null when the trace does not hold such a wait.
        pub idle_s: Option<f64>,
        /// Their share of the process's time.
        pub idle_share: Option<f64>,
        /// Steps that cost time.
        pub waits: Vec<Wait>,
        /// All calls of a pass in their order; empty but for the loop that matters.
        pub steps: Vec<Step>,
        /// The critical path; empty but for the loop that matters. What a child did replaces the wait for it, so that the
        /// parts add up to the pass.
        pub path: Vec<PathPart>,
    }
    beside {
        pub process: ProcessId,
        /// The wait that the process comes back to when it has nothing to do.
        pub idle: Option<SiteId>,
        pub server: bool,
        /// The first of the passes that the figures are of.
        pub kept: Vec<Pass>,
    }
}

part! {
    /// The call at which each pass of a loop waits for the next piece of work.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AnchorCall {
        /// Its name.
        pub call: String,
        /// Its arguments.
        pub arguments: String,
    }
}

part! {
    /// Passes by length.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Passes {
        /// Up to this length, and longer than the one before.
        pub le_s: f64,
        /// How many.
        pub passes: u64,
    }
}

part! {
    /// A step that costs time.
    #[derive(Clone, Debug)]
    pub struct Wait {
        /// The call.
        pub call: String,
        /// Its arguments.
        pub arguments: String,
        /// The how manyth of its kind in the pass.
        pub nth: u16,
        /// How often, a pass.
        pub count: f64,
        /// How long, a pass.
        pub seconds: f64,
        /// Of the pass.
        pub share: Option<f64>,
        /// `child`, `disk`, `network`, `lock`, `sleep` or `name service`.
        pub on: Option<&'static str>,
    }
}

part! {
    /// A call of a pass.
    #[derive(Clone, Debug)]
    pub struct Step {
        /// The call.
        pub call: String,
        /// Its arguments.
        pub arguments: String,
        /// The how manyth of its kind in the pass; 16 stands for all later ones too.
        pub nth: u16,
        /// How often, a pass.
        pub count: f64,
        /// How long, a pass.
        pub seconds: f64,
    }
}

#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// Servers first, then by the time they were busy; at most 50. The first is the one that matters, and only it has
    /// its `steps`.
    pub found: Vec<Loop>,
    /// Of every process that has a loop: how many passes, and where it is idle.
    pub beats: FxHashMap<ProcessId, (u64, Option<SiteId>)>,
}

/// The loops of all processes that have one.
pub fn loops(journal: &Journal, roles: &Roles) -> Loops {
    let sites = Sites::of(journal);
    let mut sums = (Waits::new(journal.sites.len()), Steps::new(journal.sites.len()));
    let mut loops = Loops::default();
    for process in 0..journal.processes.len() as ProcessId {
        if let Some(found) = service_loop(journal, roles, &sites, process, &mut sums) {
            loops.beats.insert(process, (found.passes, found.idle));
            loops.found.push(found);
        }
        if loops.found.len() >= 2 * MOST_LOOPS {
            keep_busiest(&mut loops.found);
        }
    }
    keep_busiest(&mut loops.found);
    for other in loops.found.iter_mut().skip(1) {
        other.steps.clear();
    }
    loops
}

fn keep_busiest(loops: &mut Vec<Loop>) {
    let busy_s = |found: &Loop| found.mean_s * found.passes as f64;
    loops.sort_by(|a, b| b.server.cmp(&a.server).then(busy_s(b).total_cmp(&busy_s(a))));
    loops.truncate(MOST_LOOPS);
}

fn service_loop(
    journal: &Journal,
    roles: &Roles,
    sites: &Sites,
    process: ProcessId,
    (waits, sums): &mut (Waits, Steps),
) -> Option<Loop> {
    let known = &journal.processes[process as usize];
    let anchor = anchor(known, sites, waits)?;
    let only_accepting = accepting_only(journal, process, anchor, sites);
    let mut tally = Tally::default();
    let mut cut_off = Vec::new();
    sums.clear();
    cut(known, anchor, sites, |pass| {
        tally.idle_s += pass.idle_s;
        tally.busy_s += if pass.complete { pass.seconds() } else { 0.0 };
        // What a server does before it first waits for clients is its start.
        let counts = pass.accepts || !(only_accepting || anchor.server && !pass.complete);
        if pass.is_empty() || !counts {
            tally.wakeups += u64::from(pass.complete);
        } else if pass.complete {
            sums.add(known, &pass);
            tally.add(pass);
        } else {
            cut_off.push(pass);
        }
    });
    let complete = tally.lengths_ns.len() as u64;
    let looping_s = tally.idle_s + tally.busy_s;
    let other_s: f64 = cut_off.iter().map(Pass::seconds).sum();
    if !anchor.server && (complete < 3 || looping_s < LEAST_LOOPING * (looping_s + other_s)) {
        return None;
    }
    let incomplete = cut_off.len() as u64;
    if complete == 0 {
        for pass in cut_off {
            sums.add(known, &pass);
            tally.add(pass);
        }
    }
    let lengths = Lengths::of(&mut tally.lengths_ns)?;
    Some(
        Found {
            journal,
            roles,
            process,
            anchor,
            sums,
            tally,
            lengths,
        }
        .told(complete, incomplete),
    )
}

/// Whether only passes that accept count. Not so for a server whose one loop also serves what it accepted.
fn accepting_only(journal: &Journal, process: ProcessId, anchor: Anchor, sites: &Sites) -> bool {
    let (mut accepting_s, mut busy_s) = (0.0, 0.0);
    if anchor.server {
        cut(&journal.processes[process as usize], anchor, sites, |pass| {
            let seconds = if pass.complete { pass.seconds() } else { 0.0 };
            busy_s += seconds;
            accepting_s += if pass.accepts { seconds } else { 0.0 };
        });
    }
    anchor.server && accepting_s >= LEAST_ACCEPTING * busy_s
}

#[derive(Default)]
struct Tally {
    lengths_ns: Vec<u64>,
    kept: Vec<Pass>,
    idle_s: f64,
    busy_s: f64,
    wakeups: u64,
}

impl Tally {
    fn add(&mut self, pass: Pass) {
        self.lengths_ns.push(pass.ns());
        if self.kept.len() < MOST_KEPT {
            self.kept.push(pass);
        }
    }
}

pub(crate) fn share(part_s: f64, whole_s: f64) -> Option<f64> {
    (whole_s > 0.0).then_some(part_s / whole_s)
}

#[cfg(test)]
mod tests;
