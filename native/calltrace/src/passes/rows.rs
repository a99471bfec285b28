//! What was found of a loop, put into the rows of the document.

use super::anchor::Anchor;
use super::lengths::Lengths;
use super::steps::{StepSum, Steps};
use super::waits::waits_on;
use super::{AnchorCall, Loop, Step, Tally, Wait, share};
use crate::journal::{Journal, ProcessId};
use crate::roles::Roles;

const MOST_STEPS: usize = 200;
const MOST_WAITS: usize = 50;

/// All that is known of a loop, on its way into words.
pub struct Found<'a> {
    pub journal: &'a Journal,
    pub roles: &'a Roles,
    pub process: ProcessId,
    pub anchor: Anchor,
    pub sums: &'a Steps,
    pub tally: Tally,
    pub lengths: Lengths,
}

impl Found<'_> {
    pub fn told(self, complete: u64, incomplete: u64) -> Loop {
        let process = &self.journal.processes[self.process as usize];
        let passes = self.tally.lengths_ns.len() as f64;
        let mean_s = self.lengths.mean_s;
        let own_cpu_s = (!process.cpu_s.is_empty()).then_some(self.sums.cpu_s / passes);
        let idle_s = self.anchor.idle.map(|_| self.tally.idle_s);
        let anchor = &self.journal.sites[self.anchor.site as usize];
        Loop {
            pid: process.pid,
            role: self.roles.name(self.process).to_owned(),
            program: (!process.program.is_empty()).then(|| process.program.clone()),
            anchor: AnchorCall {
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
    fn steps(&self) -> Vec<Step> {
        let mut steps = self.sums.steps.clone();
        steps.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        steps.truncate(MOST_STEPS);
        steps.sort_by_key(|step| step.example);
        steps.iter().map(|step| self.row(step)).collect()
    }

    /// Steps that take more than 1 % of a pass, or 0.1 % of it if they wait on something; longest first.
    fn waits(&self) -> Vec<Wait> {
        let process = &self.journal.processes[self.process as usize];
        let total_s = self.lengths.mean_s * self.tally.lengths_ns.len() as f64;
        let mut costly: Vec<&StepSum> = self
            .sums
            .steps
            .iter()
            .filter(|step| step.seconds > total_s * 0.001)
            .collect();
        costly.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let rows = costly.into_iter().filter_map(|step| {
            let on = waits_on(self.journal, process, step.example);
            let told = self.row(step);
            let row = Wait {
                call: told.call,
                arguments: told.arguments,
                nth: told.nth,
                count: told.count,
                seconds: told.seconds,
                share: share(step.seconds, total_s),
                on,
            };
            (on.is_some() || step.seconds > total_s * 0.01).then_some(row)
        });
        rows.take(MOST_WAITS).collect()
    }

    fn row(&self, step: &StepSum) -> Step {
        let passes = self.tally.lengths_ns.len() as f64;
        Step {
            call: self.journal.call_name(step.site).to_owned(),
            arguments: self.journal.sites[step.site as usize].arguments.clone(),
            nth: step.nth,
            count: f64::from(step.count) / passes,
            seconds: step.seconds / passes,
        }
    }
}
