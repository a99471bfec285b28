//! Memory by node: where pages were asked for and where they came from, from /sys/devices/system/node/nodeN/numastat
//! (Documentation/admin-guide/numastat.rst), every ten seconds; nothing on a host with one node.

use std::fs;
use std::path::{Path, PathBuf};

use crate::host::interval::{Interval, Moment};
use crate::host::statistics::{Figure, Statistics};
use crate::host::text::value;

const EVERY_S: f64 = 10.0;
/// Counts of pages, by the kernel's name and ours.
const COUNTS: [(&str, &str); 6] = [
    ("numa_hit", "numa.hit_per_s"),
    ("numa_miss", "numa.miss_per_s"),
    ("numa_foreign", "numa.foreign_per_s"),
    ("interleave_hit", "numa.interleave_hit_per_s"),
    ("local_node", "numa.local_node_per_s"),
    ("other_node", "numa.other_node_per_s"),
];

type Counts = [Option<u64>; COUNTS.len()];

/// The folder of each node with its number, in order.
pub fn nodes(sys: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(sys.join("devices/system/node"))
        .into_iter()
        .flatten()
        .flatten();
    let numbered = entries.filter_map(|entry| {
        let number = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
        Some((number, entry.path()))
    });
    let mut nodes: Vec<_> = numbered.collect();
    nodes.sort();
    nodes
}

pub struct Nodes {
    nodes: Vec<(u64, PathBuf)>,
    before: Option<(Moment, Vec<Counts>)>,
}

impl Nodes {
    pub fn new(sys: &Path) -> Self {
        Self {
            nodes: nodes(sys),
            before: None,
        }
    }

    pub fn sample(&mut self, now: &Moment, statistics: &mut Statistics) {
        let interval = Interval::between(self.before.as_ref().map(|(then, _)| then), now);
        let is_due = self.before.is_none() || interval.seconds.is_some_and(|seconds| seconds >= EVERY_S);
        if self.nodes.len() < 2 || !is_due {
            return;
        }
        for (entity, name, rate) in self.rates(now, &interval) {
            statistics.rate(&interval, figure(&entity, name), rate);
        }
    }

    /// Reads all nodes: the rates of each, none at the first reading.
    fn rates(&mut self, now: &Moment, interval: &Interval) -> Vec<(String, &'static str, f64)> {
        let counts: Vec<_> = self.nodes.iter().map(|(_, folder)| read(folder)).collect();
        let before = self.before.iter().flat_map(|(_, counts)| counts);
        let pairs = self.nodes.iter().zip(before.zip(&counts));
        let rates = pairs.flat_map(|((number, _), (before, now))| {
            let columns = COUNTS.iter().zip(before.iter().zip(now));
            columns.filter_map(move |((_, name), (before, now))| {
                Some((format!("node {number}"), *name, interval.increase(*before, *now)?))
            })
        });
        let rates = rates.collect();
        self.before = Some((*now, counts));
        rates
    }
}

fn figure<'a>(entity: &'a str, name: &'static str) -> Figure<'a> {
    Figure {
        component: "kernel",
        entity: Some(entity),
        name,
        unit: "per_s",
    }
}

fn read(node: &Path) -> Counts {
    let text = fs::read(node.join("numastat")).unwrap_or_default();
    COUNTS.map(|(key, _)| value(&text, key.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_in_order_of_their_numbers() {
        let sys = tempfile::tempdir().unwrap();
        for name in ["node10", "node2", "node0", "power"] {
            fs::create_dir_all(sys.path().join("devices/system/node").join(name)).unwrap();
        }
        let found = nodes(sys.path());
        assert_eq!(found.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 2, 10]);
        assert!(nodes(Path::new("/nowhere")).is_empty());
    }

    #[test]
    fn pages_of_each_node_become_rates() {
        let sys = tempfile::tempdir().unwrap();
        let write = |node: u64, hit: u64| {
            let folder = sys.path().join(format!("devices/system/node/node{node}"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(
                folder.join("numastat"),
                format!("numa_hit {hit}\nnuma_miss 0\nother_node {node}\n"),
            )
            .unwrap();
        };
        let at = |seconds: i64| Moment {
            wall: 0,
            monotonic: seconds * 1_000_000_000,
            boot: 0,
        };
        let between = |nodes: &Nodes, now: &Moment| Interval::between(nodes.before.as_ref().map(|(then, _)| then), now);
        (0..2).for_each(|node| write(node, 100));
        let mut nodes = Nodes::new(sys.path());
        assert!(nodes.rates(&at(0), &between(&nodes, &at(0))).is_empty());
        write(0, 150);
        write(1, 50);
        let interval = between(&nodes, &at(10));
        let rates = nodes.rates(&at(10), &interval);
        let of = |entity: &str, name: &str| {
            rates
                .iter()
                .find(|rate| rate.0 == entity && rate.1 == name)
                .map(|rate| rate.2)
        };
        assert_eq!(
            (of("node 0", "numa.hit_per_s"), of("node 1", "numa.hit_per_s")),
            (Some(5.0), None)
        );
        assert_eq!(
            (
                of("node 1", "numa.other_node_per_s"),
                of("node 0", "numa.foreign_per_s")
            ),
            (Some(0.0), None)
        );
    }

    #[test]
    fn a_file_that_is_cut_off_tells_what_it_has() {
        let node = tempfile::tempdir().unwrap();
        fs::write(node.path().join("numastat"), "numa_hit 7\nnuma_miss 3\nnuma_for").unwrap();
        assert_eq!(read(node.path()), [Some(7), Some(3), None, None, None, None]);
    }
}
