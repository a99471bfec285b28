//! The service loop of a process: its passes, how long each takes, and on what it waits within.

mod anchor;
mod cut;
mod steps;
mod waits;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::journal::{Journal, ProcessId, SiteId};
use crate::path::PathRow;
use crate::roles::Roles;
use anchor::{Anchor, Sites, anchor};
pub use cut::Pass;
use cut::cut;
use steps::{Step, Steps};
use waits::waits_on;

/// Passes that are kept for the critical path.
const MOST_KEPT: usize = 1000;
const MOST_STEPS: usize = 200;
const MOST_WAITS: usize = 50;
const MOST_LOOPS: usize = 50;
/// A server that spends less of its time than this in passes that accept does its work in the others.
const LEAST_ACCEPTING: f64 = 0.25;

/// Times and counts are of one pass, the mean over the passes, unless the field says otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceLoop {
    pub pid: u32,
    pub role: String,
    pub program: Option<String>,
    /// The wait that the process comes back to when it has nothing to do.
    pub anchor: Call,
    pub passes: u64,
    /// Those that the trace holds whole; all figures are of them, or of the others when there is none.
    pub complete_passes: u64,
    /// Times that the process woke and did none of a pass's work.
    pub wakeups: u64,
    /// The median.
    pub seconds_per_pass: f64,
    pub p50_s: f64,
    pub p95_s: f64,
    pub min_s: f64,
    pub max_s: f64,
    pub mean_s: f64,
    pub distribution: Vec<Bucket>,
    /// What one such process can serve: 1 / mean; null when passes take no time that the trace could show.
    pub max_passes_per_second: Option<f64>,
    /// No pass is complete: times are at least these.
    pub at_least: bool,
    /// CPU within calls; null when the trace does not give it.
    pub own_cpu_s: Option<f64>,
    pub own_cpu_share: Option<f64>,
    /// Time between calls: computing, or waiting for a CPU; null when the trace counts it to the calls (truss -D).
    pub outside_calls_s: Option<f64>,
    /// All waits for work, and their share of the process's time; null when the trace does not hold such a wait.
    pub idle_s: Option<f64>,
    pub idle_share: Option<f64>,
    pub waits: Vec<WaitRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathRow>,
    #[serde(skip)]
    pub process: ProcessId,
    #[serde(skip)]
    pub idle: Option<SiteId>,
    #[serde(skip)]
    pub server: bool,
    /// The first of the passes that the figures are of.
    #[serde(skip)]
    pub kept: Vec<Pass>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Call {
    pub call: String,
    pub arguments: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bucket {
    pub le_s: f64,
    pub passes: u64,
}

/// A step that costs time; the share is of the pass.
#[derive(Clone, Debug, Serialize)]
pub struct WaitRow {
    #[serde(flatten)]
    pub step: StepRow,
    pub share: Option<f64>,
    pub on: Option<&'static str>,
}

#[derive(Clone, Debug, Serialize)]
pub struct StepRow {
    pub call: String,
    pub arguments: String,
    /// The how manyth call of this kind in the pass; 16 stands for all later ones too.
    pub nth: u16,
    pub count: f64,
    pub seconds: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// Servers first, then by the time they were busy; at most 50. The first is the one that matters, and only it has
    /// its `steps`.
    pub found: Vec<ServiceLoop>,
    /// Of every process that has a loop: how many passes, and where it is idle.
    pub beats: FxHashMap<ProcessId, (u64, Option<SiteId>)>,
}

/// The loops of all processes that have one.
pub fn loops(journal: &Journal, roles: &Roles) -> Loops {
    let sites = Sites::of(journal);
    let mut sums = Steps::new(journal.sites.len());
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

fn keep_busiest(loops: &mut Vec<ServiceLoop>) {
    let busy_s = |found: &ServiceLoop| found.mean_s * found.passes as f64;
    loops.sort_by(|a, b| b.server.cmp(&a.server).then(busy_s(b).total_cmp(&busy_s(a))));
    loops.truncate(MOST_LOOPS);
}

fn service_loop(
    journal: &Journal,
    roles: &Roles,
    sites: &Sites,
    process: ProcessId,
    sums: &mut Steps,
) -> Option<ServiceLoop> {
    let known = &journal.processes[process as usize];
    let anchor = anchor(known, sites)?;
    let counts = accepting_only(journal, process, anchor, sites);
    let mut tally = Tally::default();
    let mut cut_off = Vec::new();
    sums.clear();
    cut(known, anchor, sites, |pass| {
        tally.idle_s += pass.idle_s;
        tally.busy_s += pass.seconds();
        if pass.is_empty() || (counts && !pass.accepts) {
            tally.wakeups += u64::from(pass.complete);
        } else if pass.complete {
            sums.add(known, &pass);
            tally.add(pass);
        } else {
            cut_off.push(pass);
        }
    });
    let complete = tally.lengths_ns.len() as u64;
    if !anchor.server && complete < 3 {
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
            busy_s += pass.seconds();
            accepting_s += if pass.accepts { pass.seconds() } else { 0.0 };
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

struct Lengths {
    p50_s: f64,
    p95_s: f64,
    min_s: f64,
    max_s: f64,
    mean_s: f64,
    distribution: Vec<Bucket>,
}

impl Lengths {
    fn of(lengths_ns: &mut [u64]) -> Option<Lengths> {
        let last = lengths_ns.len().checked_sub(1)?;
        let total_ns: u128 = lengths_ns.iter().map(|&ns| u128::from(ns)).sum();
        let distribution = distribution(lengths_ns);
        let mut at = |rank: usize| *lengths_ns.select_nth_unstable(rank).1 as f64 / 1e9;
        Some(Lengths {
            p50_s: (at(last / 2) + at(last.div_ceil(2))) / 2.0,
            p95_s: at((last * 95).div_ceil(100)),
            min_s: at(0),
            max_s: at(last),
            mean_s: total_ns as f64 / 1e9 / (last + 1) as f64,
            distribution,
        })
    }
}

/// Counts up to 1, 2, 5, 10... of a microsecond and so on, from the first to the last that is not empty.
fn distribution(lengths_ns: &[u64]) -> Vec<Bucket> {
    let edges: Vec<u64> = (3..13)
        .flat_map(|power| [1, 2, 5].map(|step| step * 10_u64.pow(power)))
        .collect();
    let mut passes = vec![0; edges.len() + 1];
    for &ns in lengths_ns {
        passes[edges.partition_point(|&edge| edge < ns)] += 1;
    }
    let longest_ns = lengths_ns.iter().copied().max().unwrap_or(0);
    let edges = edges.iter().copied().chain([longest_ns]);
    let mut buckets: Vec<Bucket> = edges
        .zip(passes)
        .map(|(edge, passes)| Bucket {
            le_s: edge as f64 / 1e9,
            passes,
        })
        .collect();
    while buckets.last().is_some_and(|bucket| bucket.passes == 0) {
        buckets.pop();
    }
    let empty = buckets.iter().take_while(|bucket| bucket.passes == 0).count();
    buckets.split_off(empty)
}

/// All that is known of a loop, on its way into words.
struct Found<'a> {
    journal: &'a Journal,
    roles: &'a Roles,
    process: ProcessId,
    anchor: Anchor,
    sums: &'a Steps,
    tally: Tally,
    lengths: Lengths,
}

impl Found<'_> {
    fn told(self, complete: u64, incomplete: u64) -> ServiceLoop {
        let process = &self.journal.processes[self.process as usize];
        let passes = self.tally.lengths_ns.len() as f64;
        let mean_s = self.lengths.mean_s;
        let own_cpu_s = (!process.cpu_s.is_empty()).then_some(self.sums.cpu_s / passes);
        let idle_s = self.anchor.idle.map(|_| self.tally.idle_s);
        let anchor = &self.journal.sites[self.anchor.site as usize];
        ServiceLoop {
            pid: process.pid,
            role: self.roles.name(self.process).to_owned(),
            program: (!process.program.is_empty()).then(|| process.program.clone()),
            anchor: Call {
                call: self.journal.call_name(self.anchor.site).to_owned(),
                arguments: anchor.arguments.clone(),
            },
            passes: complete + incomplete,
            complete_passes: complete,
            wakeups: self.tally.wakeups,
            seconds_per_pass: self.lengths.p50_s,
            p50_s: self.lengths.p50_s,
            p95_s: self.lengths.p95_s,
            min_s: self.lengths.min_s,
            max_s: self.lengths.max_s,
            mean_s,
            max_passes_per_second: (mean_s > 0.0).then_some(1.0 / mean_s),
            at_least: complete == 0,
            own_cpu_s,
            own_cpu_share: own_cpu_s.and_then(|cpu_s| share(cpu_s, mean_s)),
            outside_calls_s: (!self.journal.layout.has_delta).then_some(self.sums.outside_s / passes),
            idle_s,
            idle_share: idle_s.and_then(|idle_s| share(idle_s, idle_s + self.tally.busy_s)),
            waits: self.waits(),
            steps: self.steps(),
            path: Vec::new(),
            process: self.process,
            idle: self.anchor.idle,
            server: self.anchor.server,
            distribution: self.lengths.distribution,
            kept: self.tally.kept,
        }
    }

    /// In the order in which they came first; when there are too many, those that cost most.
    fn steps(&self) -> Vec<StepRow> {
        let mut steps = self.sums.steps.clone();
        steps.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        steps.truncate(MOST_STEPS);
        steps.sort_by_key(|step| step.example);
        steps.iter().map(|step| self.row(step)).collect()
    }

    /// Steps that take more than 1 % of a pass, or 0.1 % of it if they wait on something; longest first.
    fn waits(&self) -> Vec<WaitRow> {
        let process = &self.journal.processes[self.process as usize];
        let total_s = self.lengths.mean_s * self.tally.lengths_ns.len() as f64;
        let mut costly: Vec<&Step> = self
            .sums
            .steps
            .iter()
            .filter(|step| step.seconds > total_s * 0.001)
            .collect();
        costly.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let rows = costly.into_iter().filter_map(|step| {
            let on = waits_on(self.journal, process, step.example);
            let row = WaitRow {
                step: self.row(step),
                share: share(step.seconds, total_s),
                on,
            };
            (on.is_some() || step.seconds > total_s * 0.01).then_some(row)
        });
        rows.take(MOST_WAITS).collect()
    }

    fn row(&self, step: &Step) -> StepRow {
        let passes = self.tally.lengths_ns.len() as f64;
        StepRow {
            call: self.journal.call_name(step.site).to_owned(),
            arguments: self.journal.sites[step.site as usize].arguments.clone(),
            nth: step.nth,
            count: f64::from(step.count) / passes,
            seconds: step.seconds / passes,
        }
    }
}

pub(crate) fn share(part_s: f64, whole_s: f64) -> Option<f64> {
    (whole_s > 0.0).then_some(part_s / whole_s)
}

#[cfg(test)]
mod tests;
