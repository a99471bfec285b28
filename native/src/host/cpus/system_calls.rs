//! System calls of the whole host, by CPU: a counter of the tracepoint raw_syscalls:sys_enter on each, over one interval in twenty.
//!
//! While it counts, each call of the host takes a longer way through the kernel. Where calls of single processes are counted
//! (`processes/closer_look.rs`), those of the host are counted over the same interval.

use std::io;

use super::perf::{ByCpu, TRACEPOINT, is_passing};
use crate::host::events::Events;
use crate::host::interval::Interval;
use crate::host::processes::system_calls::{Tracepoint, close};

/// Intervals from one count to the next.
const EVERY: u64 = 20;

#[derive(Default)]
pub struct HostCalls {
    /// Looked for once: where tracefs is not mounted it takes 10 ms.
    tracepoint: Option<Tracepoint>,
    sample: u64,
    began: Option<u64>,
    counting: Option<ByCpu>,
    is_refused: bool,
}

impl HostCalls {
    /// Ends the count that began with the last sample, if there was one: calls a second on each CPU.
    pub fn end(&mut self, interval: &Interval) -> Vec<(i64, f64)> {
        let Some(mut counters) = self.counting.take() else {
            return Vec::new();
        };
        let counts = counters.read().unwrap_or_default();
        close(counters.into_files());
        let rates = counts
            .into_iter()
            .map(|(cpu, count)| Some((cpu, interval.rate(count as f64)?)));
        rates.collect::<Option<_>>().unwrap_or_default()
    }

    /// Begins one where the last is long enough ago, or others count just now.
    pub fn begin(&mut self, cpus: impl Iterator<Item = i64>, others_count: bool, events: &mut Events) {
        self.sample += 1;
        if !self.is_due(others_count) {
            return;
        }
        self.began = Some(self.sample);
        match self.open(cpus) {
            Ok(counters) => self.counting = Some(counters),
            Err(error) => {
                self.is_refused = !is_passing(&error);
                refused(events, &error);
            }
        }
    }

    fn open(&mut self, cpus: impl Iterator<Item = i64>) -> io::Result<ByCpu> {
        let tracepoint = match self.tracepoint {
            Some(known) => known,
            None => *self.tracepoint.insert(Tracepoint::find()?),
        };
        ByCpu::open(TRACEPOINT, tracepoint.0, cpus)
    }

    fn is_due(&self, others_count: bool) -> bool {
        let is_long_ago = self.began.is_none_or(|began| self.sample >= began + EVERY);
        !self.is_refused && (is_long_ago || others_count)
    }
}

fn refused(events: &mut Events, error: &io::Error) {
    let hint = match error.kind() {
        io::ErrorKind::Unsupported => "perf stat -a -e raw_syscalls:sys_enter -- sleep 10 counts all of them",
        _ => {
            "run as root, or grant CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8) and let it read tracefs \
             (mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing)"
        }
    };
    events.not_measured("system calls of the host", &error.to_string(), hint);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(others: impl Fn(u64) -> bool) -> Vec<u64> {
        let mut calls = HostCalls::default();
        let mut due = Vec::new();
        for sample in 1..=45 {
            calls.sample = sample;
            if calls.is_due(others(sample)) {
                calls.began = Some(sample);
                due.push(sample);
            }
        }
        due
    }

    #[test]
    fn one_interval_in_twenty_is_counted() {
        assert_eq!(counted(|_| false), [1, 21, 41]);
    }

    #[test]
    fn the_intervals_in_which_others_count_are_counted_too() {
        assert_eq!(counted(|sample| sample == 8), [1, 8, 28]);
    }

    #[test]
    fn what_was_refused_is_not_tried_again() {
        let calls = HostCalls {
            is_refused: true,
            ..HostCalls::default()
        };
        assert!(!calls.is_due(true));
    }
}
