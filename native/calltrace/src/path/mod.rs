//! The critical path of a pass: what the process did itself, and what those did that it waited for.

mod channels;
mod follow;
pub mod timeline;
mod walk;

use crate::part::part;
use rustc_hash::FxHashMap;

use crate::journal::{Journal, ProcessId, SiteId};
use crate::names::Class;
use crate::passes::{Loop, share};
use crate::roles::{RoleId, Roles};
use follow::{Follower, How, Piece};
use walk::What;

const MOST_ROWS: usize = 200;
pub const NO_CALL: &str = "(no call running)";
pub const NOT_IN_TRACE: &str = "(not in the trace)";

part! {
    /// A part of the critical path.
    #[derive(Clone, Debug)]
    pub struct PathPart {
        /// Generations below the loop's process.
        pub depth: u32,
        /// Whose it is: the place in the tree.
        pub role: String,
        /// Of the longest of them.
        pub pid: u32,
        /// What it did; `(no call running)` is time between calls, `(not in the trace)` what an excerpt leaves out.
        pub call: String,
        /// Its arguments.
        pub arguments: String,
        /// How often, a pass.
        pub count: f64,
        /// How long, a pass.
        pub seconds: f64,
        /// CPU time, a pass.
        pub cpu_s: Option<f64>,
        /// Of the pass.
        pub share: Option<f64>,
        /// Why the pass had to wait for it: `while the server reads from the grandchild`.
        pub why: Option<String>,
    }
}

/// Where the time of the first thousand passes of a loop went, by role and call site.
#[derive(Clone, Debug, Default)]
pub struct Path {
    pub passes: u64,
    pub seconds: f64,
    /// By role and site: how often, and seconds, in all passes.
    by_site: FxHashMap<(RoleId, SiteId), (u64, f64)>,
    pub rows: Vec<PathPart>,
}

impl Path {
    /// How often a role made calls of some sites on the path, and the seconds of them, in all passes.
    pub fn of_sites(&self, role: RoleId, wanted: impl Fn(SiteId) -> bool) -> (u64, f64) {
        let sites = self
            .by_site
            .iter()
            .filter(|((of, site), _)| *of == role && wanted(*site));
        sites.fold((0, 0.0), |(count, seconds), (_, sum)| (count + sum.0, seconds + sum.1))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Site(SiteId),
    Outside,
    Unseen,
}

#[derive(Clone, Debug, Default)]
struct Sum {
    count: u64,
    seconds: f64,
    cpu_s: f64,
    has_cpu: bool,
    longest_s: f64,
    /// The longest of them.
    process: ProcessId,
    waiter: Option<(ProcessId, How)>,
}

/// The critical path of a loop's passes, largest first.
pub fn path(journal: &Journal, roles: &Roles, found: &Loop) -> Path {
    let follower = Follower::new(journal);
    let mut sums: FxHashMap<(RoleId, Key), Sum> = FxHashMap::default();
    for pass in &found.kept {
        follower.path(found.process, pass.first, (pass.from_ns, pass.to_ns), &mut |piece| {
            let key = key(journal, &piece);
            add(sums.entry((roles.id(piece.process), key)).or_default(), journal, &piece);
        });
    }
    let mut path = Path {
        passes: found.kept.len() as u64,
        seconds: found.kept.iter().map(|pass| pass.seconds()).sum(),
        ..Path::default()
    };
    for (&(role, key), sum) in &sums {
        if let Key::Site(site) = key {
            path.by_site.insert((role, site), (sum.count, sum.seconds));
        }
    }
    path.rows = rows(journal, roles, found, &path, sums);
    path
}

fn key(journal: &Journal, piece: &Piece) -> Key {
    match piece.what {
        What::Call(entry) => Key::Site(journal.processes[piece.process as usize].entries[entry as usize].site()),
        What::Outside => Key::Outside,
        What::Unseen => Key::Unseen,
    }
}

fn add(sum: &mut Sum, journal: &Journal, piece: &Piece) {
    let seconds = piece.to_ns.saturating_sub(piece.from_ns) as f64 / 1e9;
    sum.seconds += seconds;
    if let What::Call(at) = piece.what {
        let process = &journal.processes[piece.process as usize];
        let entry = &process.entries[at as usize];
        sum.count += u64::from(piece.from_ns <= entry.start_ns);
        if let Some(cpu_s) = process.cpu_of(at) {
            sum.has_cpu = true;
            sum.cpu_s += cpu_s.min(seconds); // the part of a call that is on the path
        }
    } else {
        sum.count += 1;
    }
    if seconds >= sum.longest_s {
        (sum.longest_s, sum.process, sum.waiter) = (seconds, piece.process, piece.waiter);
    }
}

fn rows(
    journal: &Journal,
    roles: &Roles,
    found: &Loop,
    path: &Path,
    sums: FxHashMap<(RoleId, Key), Sum>,
) -> Vec<PathPart> {
    let mut sums: Vec<((RoleId, Key), Sum)> = sums.into_iter().filter(|(_, sum)| sum.seconds > 0.0).collect();
    sums.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds).then(a.0.0.cmp(&b.0.0)));
    sums.truncate(MOST_ROWS);
    let passes = path.passes as f64;
    let row = |((role, key), sum): ((RoleId, Key), Sum)| {
        let (call, arguments) = match key {
            Key::Site(site) => (journal.call_name(site), journal.sites[site as usize].arguments.as_str()),
            Key::Outside => (NO_CALL, ""),
            Key::Unseen => (NOT_IN_TRACE, ""),
        };
        PathPart {
            depth: roles.role(role).depth,
            role: roles.role(role).name.clone(),
            pid: journal.processes[sum.process as usize].pid,
            call: call.to_owned(),
            arguments: arguments.to_owned(),
            count: sum.count.max(1) as f64 / passes,
            seconds: sum.seconds / passes,
            cpu_s: sum.has_cpu.then_some(sum.cpu_s / passes),
            share: share(sum.seconds, path.seconds),
            why: why(journal, roles, found, key, &sum),
        }
    };
    sums.into_iter().map(row).collect()
}

fn why(journal: &Journal, roles: &Roles, found: &Loop, key: Key, sum: &Sum) -> Option<String> {
    let forks = matches!(key, Key::Site(site) if journal.sites[site as usize].class == Class::Fork);
    let cost = forks.then_some("the cost of copying the process");
    let waits = sum.waiter.map(|(waiter, how)| {
        let serves = found.server && waiter == found.process;
        let waiter = if serves {
            "the server".to_owned()
        } else {
            roles.spoken(waiter)
        };
        let other = roles.spoken(sum.process);
        match how {
            How::Reads => format!("while {waiter} reads what {other} writes"),
            How::Waits => format!("while {waiter} waits for {other} to end"),
        }
    });
    match (cost, waits) {
        (Some(cost), Some(waits)) => Some(format!("{cost}, {waits}")),
        (Some(cost), None) => Some(cost.to_owned()),
        (None, waits) => waits,
    }
}

#[cfg(test)]
mod tests;
