//! Calls made over and over with the same arguments, alone or as a sequence, and what a pass would be without them.

mod sequences;

use crate::part::part;
use rustc_hash::FxHashMap;

use crate::journal::{Journal, Process, ProcessId, SiteId};
use crate::names::Class;
use crate::passes::{Loops, share};
use crate::path::Path;
use crate::roles::{RoleId, Roles};
use sequences::{Region, regions, turned};

/// Fewer of the same calls by one process are no repetition.
const LEAST_CALLS: u64 = 8;
/// In a process with a loop they must come so often in a pass: once a pass is its work.
const LEAST_A_PASS: u64 = 2;
const MOST_ROWS: usize = 50;

part! {
    /// The same call, or sequence of calls, over and over.
    #[derive(Clone, Debug)]
    pub struct Repetition {
        /// The call that comes again; of a sequence, the member with most time.
        pub call: String,
        /// Its arguments.
        pub arguments: String,
        /// Calls that come again in this order.
        pub sequence: Option<Vec<String>>,
        /// Who makes them: of all processes of the role, the one that spent most on it.
        pub pid: u32,
        /// Its place in the tree.
        pub role: String,
        /// All calls of this name by the processes of the role that repeat it; of a sequence, all calls in it.
        pub calls: u64,
        /// Those with the most frequent arguments.
        pub same_arguments: u64,
        /// In sum.
        pub seconds: f64,
        /// CPU time in sum; null when it is not known.
        pub cpu_s: Option<f64>,
        /// Whether the pass of the loop waits for them.
        pub on_critical_path: bool,
        /// On the critical path: what removing them saves; null when they are not on it. So are the two below.
        pub calls_per_pass: Option<f64>,
        /// Likewise.
        pub seconds_per_pass: Option<f64>,
        /// Likewise.
        pub share_of_pass: Option<f64>,
        /// How many failed.
        pub errors: u64,
        /// How.
        pub error: Option<String>,
    }
    beside {
        /// The journal does not say which error: for the caller to fill in, by process and call.
        pub process: ProcessId,
        pub call_number: u16,
    }
}

/// Repetitions by the role of who made them, largest seconds first, at most 50. `path` is the critical path of the
/// loop that matters.
pub fn repetitions(journal: &Journal, roles: &Roles, loops: &Loops, path: Option<&Path>) -> Vec<Repetition> {
    let mut search = Search::new(journal, roles, loops);
    for process in 0..journal.processes.len() as ProcessId {
        search.look_at(process);
    }
    let mut found: Vec<((RoleId, What), Found)> = search.found.into_iter().collect();
    found.sort_by(|a, b| b.1.sum.seconds.total_cmp(&a.1.sum.seconds).then_with(|| a.0.cmp(&b.0)));
    found.truncate(MOST_ROWS);
    found
        .into_iter()
        .map(|((role, what), found)| told(journal, roles, path, role, &what, &found))
        .collect()
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum What {
    Call(u16),
    Sequence(Vec<SiteId>),
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    calls: u64,
    seconds: f64,
    cpu_s: f64,
    errors: u64,
}

impl Sum {
    fn add(&mut self, other: &Sum) {
        self.calls += other.calls;
        self.seconds += other.seconds;
        self.cpu_s += other.cpu_s;
        self.errors += other.errors;
    }

    fn count(&mut self, process: &Process, at: usize) {
        let entry = &process.entries[at];
        self.calls += 1;
        self.seconds += entry.seconds();
        self.errors += u64::from(entry.failed());
        self.cpu_s += process.cpu_of(at as u32).unwrap_or(0.0);
    }
}

/// A repetition of all processes of a role.
#[derive(Clone, Debug, Default)]
struct Found {
    sum: Sum,
    /// The calls of its most frequent sites.
    sites: FxHashMap<SiteId, Sum>,
    process: ProcessId,
    largest_s: f64,
    has_cpu: bool,
}

impl Found {
    fn add(&mut self, process: ProcessId, sum: &Sum, has_cpu: bool) {
        if self.sum.calls == 0 || sum.seconds > self.largest_s {
            (self.process, self.largest_s) = (process, sum.seconds);
        }
        self.sum.add(sum);
        self.has_cpu |= has_cpu;
    }
}

struct Search<'a> {
    journal: &'a Journal,
    roles: &'a Roles,
    loops: &'a Loops,
    classes: Vec<Class>,
    found: FxHashMap<(RoleId, What), Found>,
    /// Of the process that is looked at, by site; those of `met` are not empty.
    sums: Vec<Sum>,
    met: Vec<SiteId>,
}

impl<'a> Search<'a> {
    fn new(journal: &'a Journal, roles: &'a Roles, loops: &'a Loops) -> Search<'a> {
        Search {
            journal,
            roles,
            loops,
            classes: journal.classes(),
            found: FxHashMap::default(),
            sums: vec![Sum::default(); journal.sites.len()],
            met: Vec::new(),
        }
    }

    fn look_at(&mut self, process: ProcessId) {
        let known = &self.journal.processes[process as usize];
        if (known.entries.len() as u64) < LEAST_CALLS {
            return;
        }
        let (passes, idle) = self.loops.beats.get(&process).copied().unwrap_or_default();
        let mut counted = 0;
        for region in regions(&known.entries) {
            if self.is_worth_telling(known, &region, idle) {
                self.count(known, counted..region.first);
                self.keep_sequence(process, &region);
                counted = region.end;
            }
        }
        self.count(known, counted..known.entries.len());
        self.keep_calls(process, passes);
    }

    /// A sequence that waits is how the process works; one that only moves data is so too.
    fn is_worth_telling(&self, process: &Process, region: &Region, idle: Option<SiteId>) -> bool {
        let sites = || {
            process.entries[region.first..region.first + region.length]
                .iter()
                .map(|entry| entry.site())
        };
        let class = |site: SiteId| self.classes[site as usize];
        !sites().any(|site| waits(class(site)) || Some(site) == idle) && sites().any(|site| !class(site).moves_data())
    }

    fn count(&mut self, process: &Process, range: std::ops::Range<usize>) {
        for at in range {
            let site = process.entries[at].site();
            let class = self.classes[site as usize];
            if waits(class) || class.moves_data() {
                continue;
            }
            let sum = &mut self.sums[site as usize];
            if sum.calls == 0 {
                self.met.push(site);
            }
            sum.count(process, at);
        }
    }

    fn keep_sequence(&mut self, process: ProcessId, region: &Region) {
        let known = &self.journal.processes[process as usize];
        let key = (self.roles.id(process), What::Sequence(turned(&known.entries, region)));
        let found = self.found.entry(key).or_default();
        let mut all = Sum::default();
        for at in region.first..region.end {
            all.count(known, at);
            found
                .sites
                .entry(known.entries[at].site())
                .or_default()
                .count(known, at);
        }
        found.add(process, &all, !known.cpu_s.is_empty());
    }

    /// Of the calls counted, keep those made often with the same arguments, and forget all.
    fn keep_calls(&mut self, process: ProcessId, passes: u64) {
        let mut calls: FxHashMap<u16, (Sum, SiteId)> = FxHashMap::default();
        for &site in &self.met {
            let (all, most) = calls
                .entry(self.journal.sites[site as usize].call)
                .or_insert((Sum::default(), site));
            all.add(&self.sums[site as usize]);
            if self.sums[site as usize].calls > self.sums[*most as usize].calls {
                *most = site;
            }
        }
        let has_cpu = !self.journal.processes[process as usize].cpu_s.is_empty();
        for (call, (all, most)) in calls {
            let same = self.sums[most as usize];
            if all.calls >= LEAST_CALLS && 2 * same.calls >= all.calls && same.calls >= LEAST_A_PASS * passes {
                let key = (self.roles.id(process), What::Call(call));
                let found = self.found.entry(key).or_default();
                found.sites.entry(most).or_default().add(&same);
                found.add(process, &all, has_cpu);
            }
        }
        for site in self.met.drain(..) {
            self.sums[site as usize] = Sum::default();
        }
    }
}

/// Calls whose repetition is no waste: they wait for what comes, or are what a server is for.
fn waits(class: Class) -> bool {
    use Class::*;
    matches!(class, Poll | Wait | Sleep | Lock | Accept | Fork | Exec | Exit)
}

fn told(journal: &Journal, roles: &Roles, path: Option<&Path>, role: RoleId, what: &What, found: &Found) -> Repetition {
    let by_weight = |a: &(&SiteId, &Sum), b: &(&SiteId, &Sum)| match what {
        What::Call(_) => a.1.calls.cmp(&b.1.calls).then(b.0.cmp(a.0)),
        What::Sequence(_) => a.1.seconds.total_cmp(&b.1.seconds).then(b.0.cmp(a.0)),
    };
    let (site, same) = found
        .sites
        .iter()
        .max_by(by_weight)
        .map_or((0, 0), |(&site, sum)| (site, sum.calls));
    let on_path = path.map(|path| {
        let (count, seconds) = path.of_sites(role, |site| match what {
            What::Call(call) => journal.sites[site as usize].call == *call,
            What::Sequence(sites) => sites.contains(&site),
        });
        (
            count as f64 / path.passes as f64,
            seconds / path.passes as f64,
            share(seconds, path.seconds),
        )
    });
    let on_path = on_path.filter(|(count, seconds, _)| *count > 0.0 || *seconds > 0.0);
    let sequence = match what {
        What::Call(_) => None,
        What::Sequence(sites) => Some(sites.iter().map(|&site| journal.call_name(site).to_owned()).collect()),
    };
    Repetition {
        call: journal.call_name(site).to_owned(),
        arguments: journal.sites[site as usize].arguments.clone(),
        pid: journal.processes[found.process as usize].pid,
        role: roles.role(role).name.clone(),
        calls: found.sum.calls,
        same_arguments: if sequence.is_some() { found.sum.calls } else { same },
        sequence,
        seconds: found.sum.seconds,
        cpu_s: found.has_cpu.then_some(found.sum.cpu_s),
        on_critical_path: on_path.is_some(),
        calls_per_pass: on_path.map(|(count, _, _)| count),
        seconds_per_pass: on_path.map(|(_, seconds, _)| seconds),
        share_of_pass: on_path.and_then(|(_, _, share)| share),
        errors: found.sum.errors,
        error: None,
        process: found.process,
        call_number: journal.sites[site as usize].call,
    }
}

#[cfg(test)]
mod tests;
