//! What it costs a process to make others.

use crate::part::part;
use rustc_hash::FxHashMap;

use crate::growth::mapped_bytes;
use crate::journal::{Action, Birth, Entry, Journal, Process, ProcessId};
use crate::roles::{RoleId, Roles};

const MOST_ROWS: usize = 50;

part! {
    /// What it cost a process to make others.
    #[derive(Clone, Debug)]
    pub struct Forks {
        /// Who forked: the pid of the one that did most.
        pub parent: u32,
        /// Its place in the tree.
        pub role: String,
        /// By which call.
        pub call: String,
        /// How often.
        pub count: u64,
        /// Of one fork; null when the trace gives no durations, as the two below.
        pub mean_s: Option<f64>,
        /// The median.
        pub p50_s: Option<f64>,
        /// The longest.
        pub max_s: Option<f64>,
        /// CPU time of one fork, the mean; null when the trace does not give it.
        pub cpu_s: Option<f64>,
        /// What that parent had mapped in the end; null when the trace does not hold its start.
        pub mapped_bytes: Option<u64>,
    }
}

#[derive(Default)]
struct Sum {
    count: u64,
    /// Of those whose duration is known.
    lengths_s: Vec<f32>,
    cpu_s: Option<f64>,
    parent: ProcessId,
    most: u64,
}

impl Sum {
    fn add(&mut self, entry: &Entry, cpu_s: Option<f64>) {
        self.count += 1;
        self.lengths_s
            .extend((!entry.elapsed_s.is_nan()).then_some(entry.elapsed_s));
        if let Some(cpu_s) = cpu_s {
            *self.cpu_s.get_or_insert(0.0) += cpu_s;
        }
    }
}

/// Forks that made a process, by the forking role and the call, most time first. New threads are left out.
pub fn summed_forks(journal: &Journal, roles: &Roles) -> Vec<Forks> {
    let mut sums: FxHashMap<(RoleId, u16), Sum> = FxHashMap::default();
    for (parent, process) in journal.processes.iter().enumerate() {
        let role = roles.id(parent as ProcessId);
        let mut own: FxHashMap<u16, u64> = FxHashMap::default();
        for (at, entry) in forks(journal, process) {
            let call = journal.sites[entry.site() as usize].call;
            *own.entry(call).or_default() += 1;
            sums.entry((role, call)).or_default().add(entry, process.cpu_of(at));
        }
        for (call, count) in own {
            let sum = sums.entry((role, call)).or_default();
            if count > sum.most {
                (sum.most, sum.parent) = (count, parent as ProcessId);
            }
        }
    }
    let mut births: Vec<Forks> = sums
        .into_iter()
        .map(|(key, sum)| told(journal, roles, key, sum))
        .collect();
    let seconds = |row: &Forks| row.mean_s.unwrap_or(0.0) * row.count as f64;
    births.sort_by(|a, b| {
        seconds(b)
            .total_cmp(&seconds(a))
            .then(b.count.cmp(&a.count))
            .then(a.parent.cmp(&b.parent))
    });
    births.truncate(MOST_ROWS);
    births
}

/// The calls by which a process made others, threads left out.
fn forks<'a>(journal: &'a Journal, process: &'a Process) -> impl Iterator<Item = (u32, &'a Entry)> {
    process.actions.iter().filter_map(|&(at, action)| match action {
        Action::Forked(child) if journal.processes[child as usize].birth != Birth::Thread => {
            Some((at, process.entries.get(at as usize)?))
        }
        _ => None,
    })
}

fn told(journal: &Journal, roles: &Roles, (role, call): (RoleId, u16), mut sum: Sum) -> Forks {
    let lengths_s = &mut sum.lengths_s;
    let total_s: f64 = lengths_s.iter().copied().map(f64::from).sum();
    let known = lengths_s.len();
    let median = (known > 0).then(|| *lengths_s.select_nth_unstable_by(known / 2, f32::total_cmp).1);
    let parent = &journal.processes[sum.parent as usize];
    Forks {
        parent: parent.pid,
        role: roles.role(role).name.clone(),
        call: journal.calls[call as usize].name.clone(),
        count: sum.count,
        mean_s: (known > 0).then(|| total_s / known as f64),
        p50_s: median.map(f64::from),
        max_s: lengths_s.iter().copied().max_by(f32::total_cmp).map(f64::from),
        cpu_s: sum.cpu_s.map(|cpu_s| cpu_s / sum.count as f64),
        mapped_bytes: (!parent.program.is_empty()).then(|| mapped_bytes(parent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::roles;
    use crate::script::Script;

    #[test]
    fn forks_are_summed_by_role_and_threads_left_out() {
        let (mut script, server) = Script::listener();
        let thread = script.child(server, 9000);
        script.journal.processes[thread as usize].birth = Birth::Thread;
        script.call(server, 3.0, 0.5, "clone(CLONE_THREAD)");
        script.action(server, Action::Forked(thread));
        script.failed(server, 3.5, 0.5, "fork1()");
        let rows = summed_forks(&script.journal, &roles(&script.journal));
        let shown: Vec<_> = rows
            .iter()
            .map(|row| (row.parent, row.role.as_str(), row.count))
            .collect();
        assert_eq!(shown, [(15697, "15697", 1), (8195, "child", 1)]);
        assert!((rows[0].mean_s.unwrap() - 0.03).abs() < 1e-6 && (rows[1].max_s.unwrap() - 0.0247).abs() < 1e-6);
        assert_eq!((rows[0].cpu_s, rows[0].mapped_bytes), (None, None));
    }

    #[test]
    fn five_hundred_children_that_fork_are_one_row() {
        let mut script = Script::new();
        let server = script.process(1);
        for pid in 2..502 {
            let child = script.child(server, pid);
            let grandchild = script.child(child, 1000 + pid);
            script.call(child, 1.0, f64::from(pid) / 1e6, "clone(SIGCHLD)");
            script.action(child, Action::Forked(grandchild));
            script.cpu(child, 0.001);
        }
        let last = script.child(server, 502);
        script.call(server, 1.0, f64::NAN, "vfork()");
        script.action(server, Action::Forked(last));
        let rows = summed_forks(&script.journal, &roles(&script.journal));
        assert_eq!((rows.len(), rows[0].count), (2, 500));
        assert!((rows[0].p50_s.unwrap() - 252e-6).abs() < 2e-6);
        assert!((rows[0].cpu_s.unwrap() - 0.001).abs() < 1e-6);
        assert_eq!((rows[1].call.as_str(), rows[1].mean_s), ("vfork", None));
    }
}
