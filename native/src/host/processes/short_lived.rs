//! Processes that no sample sees, since they start and end between two: by name, how many, their CPU time and how long they
//! lived; and how many children each process started, those among them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;

use super::command;
use super::exits::{BUFFER, Exits};
use crate::host::events::Events;
use crate::host::interval::Interval;
use crate::host::statistics::{Figure, Statistics};

/// The names, and the parents, that stand out.
const MOST_TOLD: usize = 8;
/// Fewer a second, and less CPU time than a hundredth of a CPU, explain nothing, and every shell that looks around makes some.
const LEAST_PER_S: f64 = 10.0;
const LEAST_CPU_S_PER_S: f64 = 0.01;
/// A server that starts a process for each client does so at least that often while clients come.
const LEAST_CHILDREN_PER_S: f64 = 1.0;
/// More names than this in one sample, and the rest goes by the name of all others.
const NAMES_AT_MOST: usize = 256;
const OTHERS: &str = "(others)";
const SUBJECT: &str = "processes that start and end between two samples";

#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    cpu_ns: u64,
    elapsed_us: u64,
}

impl Sum {
    fn add(&mut self, other: &Sum) {
        self.count += other.count;
        self.cpu_ns += other.cpu_ns;
        self.elapsed_us += other.elapsed_us;
    }

    fn tells(&self, interval: &Interval) -> bool {
        interval.precise_rate(self.count as f64) >= Some(LEAST_PER_S)
            || interval.precise_rate(self.cpu_ns as f64 / 1e9) >= Some(LEAST_CPU_S_PER_S)
    }
}

#[derive(Default)]
pub struct ShortLived {
    /// Nothing where the kernel refuses it.
    exits: Option<Exits>,
    by_name: BTreeMap<String, Sum>,
    /// All that ended, however long they lived, by name.
    ended: BTreeMap<String, u64>,
    /// Children started since the last sample, by the parent's number.
    children: HashMap<u32, u64>,
    /// Who has started children at some second of the recording.
    pub parents: HashSet<u32>,
    is_complete: bool,
}

impl ShortLived {
    pub fn open(sys: &Path, events: &mut Events) -> Self {
        let exits = Exits::open(sys);
        if let Err(error) = &exits {
            events.not_measured(
                SUBJECT,
                &error.to_string(),
                "run as root or grant CAP_NET_ADMIN, in the host's own namespaces of users and processes",
            );
        }
        Self {
            exits: exits.ok(),
            ..Self::default()
        }
    }

    /// Takes in who ended since the last sample. `is_known` says of a number whether a sample has seen that process.
    pub fn take(&mut self, interval: &Interval, is_known: impl Fn(u32) -> bool, events: &mut Events) {
        self.by_name.clear();
        self.ended.clear();
        self.children.clear();
        let Some(exits) = &mut self.exits else {
            return;
        };
        let longest_us = interval.seconds.unwrap_or(0.0) * 1e6;
        let (by_name, all, children) = (&mut self.by_name, &mut self.ended, &mut self.children);
        let taken = exits.take(|ended| {
            let name = command::name(&ended.name);
            let of_all = if is_full(all, &name) { OTHERS } else { &*name };
            *all.entry(of_all.to_string()).or_default() += 1;
            if is_known(ended.pid) || ended.elapsed_us as f64 > longest_us {
                return;
            }
            *children.entry(ended.ppid).or_default() += 1;
            let name = if is_full(by_name, &name) {
                OTHERS.to_string()
            } else {
                name
            };
            by_name.entry(name).or_default().add(&Sum {
                count: 1,
                cpu_ns: ended.cpu_ns,
                elapsed_us: ended.elapsed_us,
            });
        });
        self.is_complete = taken.is_ok();
        if let Err(error) = taken {
            let is_full = error.kind() == io::ErrorKind::StorageFull;
            let buffer = format!("more ended at once than a buffer of {} MiB holds", BUFFER >> 20);
            let why = if is_full { buffer } else { error.to_string() };
            events.not_measured(SUBJECT, &why, "take samples more often");
        }
    }

    /// A process was seen for the first time that started since the last sample.
    pub fn born(&mut self, parent: u32) {
        *self.children.entry(parent).or_default() += 1;
    }

    /// Adds the rows of this sample; `name_of` gives the name of a process that is there.
    pub fn add_rows(
        &mut self,
        interval: &Interval,
        name_of: impl Fn(u32) -> Option<String>,
        statistics: &mut Statistics,
    ) {
        self.children
            .retain(|_, count| interval.rate(*count as f64) >= Some(LEAST_CHILDREN_PER_S));
        self.parents.extend(self.children.keys());
        self.parents.retain(|pid| name_of(*pid).is_some());
        if self.exits.is_none() || !self.is_complete || interval.seconds.is_none() {
            return;
        }
        for (name, sum) in largest(&self.by_name)
            .into_iter()
            .filter(|(_, sum)| sum.tells(interval))
        {
            add_name(&name, &sum, interval, statistics);
        }
        for (name, count) in most(&self.ended) {
            let per_s = interval
                .precise_rate(count as f64)
                .filter(|per_s| *per_s >= LEAST_PER_S);
            if let Some(per_s) = per_s {
                statistics.rate(interval, of(name, "process.exits_per_s", "per_s"), per_s);
            }
        }
        let mut parents: Vec<_> = self.children.iter().map(|(pid, count)| (*count, *pid)).collect();
        parents.sort_unstable_by_key(|(count, pid)| (std::cmp::Reverse(*count), *pid));
        for (count, pid) in parents.into_iter().take(MOST_TOLD) {
            if let (Some(name), Some(per_s)) = (name_of(pid), interval.precise_rate(count as f64)) {
                statistics.rate(
                    interval,
                    of(&entity(&name, pid), "process.children_per_s", "per_s"),
                    per_s,
                );
            }
        }
    }
}

/// What a statistic of one process is told of: its name and number.
pub fn entity(name: &str, pid: u32) -> String {
    format!("{name} (pid {pid})")
}

pub fn of<'a>(entity: &'a str, name: &'a str, unit: &'a str) -> Figure<'a> {
    Figure {
        component: "kernel",
        entity: Some(entity),
        name,
        unit,
    }
}

fn is_full<T>(by_name: &BTreeMap<String, T>, name: &str) -> bool {
    by_name.len() >= NAMES_AT_MOST && !by_name.contains_key(name)
}

/// The names of which most ended.
fn most(ended: &BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    let mut counts: Vec<_> = ended.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.truncate(MOST_TOLD);
    counts
}

/// The names that used most CPU time, and all others together.
fn largest(by_name: &BTreeMap<String, Sum>) -> Vec<(String, Sum)> {
    let mut sums: Vec<_> = by_name.iter().collect();
    sums.sort_by_key(|(name, sum)| (name.as_str() == OTHERS, std::cmp::Reverse(sum.cpu_ns)));
    let mut told: Vec<(String, Sum)> = Vec::new();
    for (position, (name, sum)) in sums.into_iter().enumerate() {
        let name = if position < MOST_TOLD { name } else { OTHERS };
        match told.last_mut().filter(|(last, _)| last == name) {
            Some((_, others)) => others.add(sum),
            None => told.push((name.to_string(), *sum)),
        }
    }
    told
}

fn add_name(name: &str, sum: &Sum, interval: &Interval, statistics: &mut Statistics) {
    let rates = [
        ("short_lived.ends_per_s", "per_s", sum.count as f64),
        ("short_lived.cpu_s_per_s", "s_per_s", sum.cpu_ns as f64 / 1e9),
    ];
    for (figure, unit, amount) in rates {
        if let Some(rate) = interval.precise_rate(amount) {
            statistics.rate(interval, of(name, figure, unit), rate);
        }
    }
    let elapsed_s = sum.elapsed_us as f64 / sum.count.max(1) as f64 / 1e6;
    let rounded_s = (elapsed_s * 1e4).round() / 1e4;
    statistics.gauge(interval, of(name, "short_lived.elapsed_s", "s"), rounded_s);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_which_most_ended_stand_first() {
        let ended: BTreeMap<String, u64> = (0..12).map(|n| (format!("name{n:02}"), n)).collect();
        let told = most(&ended);
        assert_eq!(
            (told.len(), told[0], told[7]),
            (MOST_TOLD, ("name11", 11), ("name04", 4))
        );
        assert!(!is_full(&ended, "new"));
    }

    #[test]
    fn the_names_that_used_most_stand_first_and_the_rest_is_summed_up() {
        let sum = |cpu_ns| Sum {
            count: 1,
            cpu_ns,
            elapsed_us: 10,
        };
        let mut by_name: BTreeMap<String, Sum> = (0..12).map(|n| (format!("name{n:02}"), sum(n))).collect();
        by_name.insert(OTHERS.to_string(), sum(100));
        let told = largest(&by_name);
        assert_eq!(told.len(), MOST_TOLD + 1);
        assert_eq!((told[0].0.as_str(), told[7].0.as_str()), ("name11", "name04"));
        let (name, others) = told.last().unwrap();
        assert_eq!((name.as_str(), others.count, others.cpu_ns), (OTHERS, 5, 106));
    }
}
