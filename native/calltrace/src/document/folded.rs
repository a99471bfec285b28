//! Input for flame graphs: time by role and call, as `root;child;call` with microseconds.
//!
//! The format is that of B. Gregg's flamegraph.pl (2011), a stack and a number.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::journal::{Journal, Process, ProcessId};
use crate::path::NO_CALL;
use crate::roles::{RoleId, Roles};

/// Microseconds by the chain of roles and the call; time between a process's calls is "(no call running)".
pub fn folded(journal: &Journal, roles: &Roles) -> BTreeMap<String, u64> {
    let calls_of: Vec<u16> = journal.sites.iter().map(|site| site.call).collect();
    let mut seconds = vec![0.0; journal.calls.len()];
    let mut sums: FxHashMap<(RoleId, Option<u16>), f64> = FxHashMap::default();
    for (id, process) in journal.processes.iter().enumerate() {
        let role = roles.id(id as ProcessId);
        let mut in_calls_s = 0.0;
        for entry in &process.entries {
            in_calls_s += entry.seconds();
            seconds[calls_of[entry.site() as usize] as usize] += entry.seconds();
        }
        for (call, seconds) in seconds.iter_mut().enumerate().filter(|(_, seconds)| **seconds > 0.0) {
            *sums.entry((role, Some(call as u16))).or_default() += std::mem::take(seconds);
        }
        if !journal.layout.has_delta {
            *sums.entry((role, None)).or_default() += outside_s(process, in_calls_s);
        }
    }
    let line = |((role, call), seconds): ((RoleId, Option<u16>), f64)| {
        let call = call.map_or(NO_CALL, |call| &journal.calls[call as usize].name);
        (
            format!("{};{call}", roles.role(role).chain),
            (seconds * 1e6).round() as u64,
        )
    };
    let mut folded = BTreeMap::new();
    for (stack, microseconds) in sums.into_iter().map(line).filter(|(_, microseconds)| *microseconds > 0) {
        let sum: &mut u64 = folded.entry(stack).or_default();
        *sum = sum.saturating_add(microseconds);
    }
    folded
}

/// What is left of the time from a process's first call to its last, what an excerpt leaves out not counted.
fn outside_s(process: &Process, in_calls_s: f64) -> f64 {
    let (Some(first), Some(last)) = (process.entries.first(), process.entries.last()) else {
        return 0.0;
    };
    let span_s = last.end_ns().saturating_sub(first.start_ns) as f64 / 1e9;
    let unseen_s: f64 = process.gaps.iter().map(|gap| f64::from(gap.1)).sum();
    (span_s - in_calls_s - unseen_s).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::roles;
    use crate::script::Script;

    #[test]
    fn time_is_summed_by_chain_and_call() {
        let (script, _) = Script::listener();
        let folded = folded(&script.journal, &roles(&script.journal));
        assert_eq!(folded["15697;fork1"], 30_000);
        assert_eq!(folded["15697;child;grandchild;cladm"], 120_000);
        assert_eq!(folded["15697;read"], 196_400);
        // What the excerpt leaves out of the grandchild is not counted as outside calls.
        assert!(folded["15697;child;grandchild;(no call running)"] < 20_000);
    }

    #[test]
    fn traces_that_count_computing_to_the_calls_have_no_time_outside() {
        let (mut script, _) = Script::listener();
        script.journal.layout.has_delta = true;
        let folded = folded(&script.journal, &roles(&script.journal));
        assert!(folded.keys().all(|stack| !stack.contains(NO_CALL)));
    }
}
