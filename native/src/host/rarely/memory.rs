//! The kernel's own memory: large free blocks, pools of huge pages, slab, and what it takes to make large blocks.

use std::fs;
use std::path::{Path, PathBuf};

use crate::host::interval::Interval;
use crate::host::statistics::{Figure, Statistics};
use crate::host::text::{fields, lines, number, value};

/// Counters of /proc/vmstat: the beginning of their names there, what they are called here. Those of zones, which have the same
/// beginning, are added up.
const COUNTERS: [(&str, &str); 11] = [
    ("compact_stall", "vmstat.compact_stall"),
    ("compact_fail", "vmstat.compact_fail"),
    ("compact_success", "vmstat.compact_success"),
    ("thp_fault_alloc", "vmstat.thp_fault_alloc"),
    ("thp_fault_fallback ", "vmstat.thp_fault_fallback"),
    ("thp_collapse_alloc ", "vmstat.thp_collapse_alloc"),
    ("thp_collapse_alloc_failed", "vmstat.thp_collapse_alloc_failed"),
    ("allocstall", "vmstat.allocstall"),
    ("workingset_refault_file", "vmstat.workingset_refault_file"),
    ("drop_pagecache", "vmstat.drop_pagecache"),
    ("oom_kill ", "vmstat.oom_kill"),
];
const SLAB: [(&str, &str); 2] = [
    ("SReclaimable", "meminfo.SReclaimable"),
    ("SUnreclaim", "meminfo.SUnreclaim"),
];
/// Of a pool of huge pages, by file and what it is called here.
const POOL: [(&str, &str); 3] = [
    ("nr_hugepages", "hugepages.total"),
    ("free_hugepages", "hugepages.free"),
    ("resv_hugepages", "hugepages.rsvd"),
];

type Counts = [Option<u64>; COUNTERS.len()];

pub struct KernelMemory {
    proc: PathBuf,
    sys: PathBuf,
    page_bytes: u64,
    before: Counts,
}

impl KernelMemory {
    pub fn new(proc: &Path, sys: &Path, page_bytes: u64) -> Self {
        Self {
            proc: proc.to_path_buf(),
            sys: sys.to_path_buf(),
            page_bytes,
            before: Counts::default(),
        }
    }

    /// A file that this kernel does not have gives no rows; that /proc is not there is said by the host's own sampler.
    pub fn sample(&mut self, interval: &Interval, statistics: &mut Statistics) {
        if let Ok(text) = fs::read(self.proc.join("vmstat")) {
            self.add_counters(interval, counts(&text), statistics);
        }
        let meminfo = fs::read(self.proc.join("meminfo")).unwrap_or_default();
        for (key, name) in SLAB {
            if let Some(kib) = value(&meminfo, key.as_bytes()) {
                statistics.gauge(interval, figure(None, name, "bytes"), (kib * 1024) as f64);
            }
        }
        let huge = value(&meminfo, b"Hugepagesize");
        if let (Some(huge_kib), Ok(text)) = (huge, fs::read(self.proc.join("buddyinfo"))) {
            self.add_free(interval, &text, huge_kib * 1024, statistics);
        }
        self.add_pools(interval, statistics);
    }

    fn add_counters(&mut self, interval: &Interval, now: Counts, statistics: &mut Statistics) {
        for (((_, name), before), now) in COUNTERS.iter().zip(self.before).zip(now) {
            if let Some(rate) = interval.increase(before, now) {
                statistics.rate(interval, figure(None, name, "per_s"), rate);
            }
        }
        self.before = now;
    }

    /// Free memory of each node, and how much of it lies in blocks that a huge page fits into.
    fn add_free(&self, interval: &Interval, buddyinfo: &[u8], huge_bytes: u64, statistics: &mut Statistics) {
        for (node, free, in_huge) in free_blocks(buddyinfo, self.page_bytes, huge_bytes) {
            let entity = format!("node {node}");
            for (name, bytes) in [("buddyinfo.free_bytes", free), ("buddyinfo.free_huge_bytes", in_huge)] {
                statistics.gauge(interval, figure(Some(&entity), name, "bytes"), bytes as f64);
            }
        }
    }

    /// The pools that hold pages, by size; and by node where there are several.
    fn add_pools(&self, interval: &Interval, statistics: &mut Statistics) {
        let nodes = numbered(&self.sys.join("devices/system/node"), "node");
        let mut places = vec![(String::new(), self.sys.join("kernel/mm/hugepages"))];
        if nodes.len() > 1 {
            places.extend(
                nodes
                    .into_iter()
                    .map(|(number, folder)| (format!("node {number} "), folder.join("hugepages"))),
            );
        }
        for (place, folder) in places {
            for (size, pool) in numbered(&folder, "hugepages-") {
                add_pool(interval, &format!("{place}{size} kB"), &pool, statistics);
            }
        }
    }
}

fn add_pool(interval: &Interval, entity: &str, pool: &Path, statistics: &mut Statistics) {
    let read = |file: &str| fs::read(pool.join(file)).ok().and_then(|text| number(&text));
    if read(POOL[0].0).unwrap_or(0) == 0 {
        return;
    }
    for (file, name) in POOL {
        if let Some(pages) = read(file) {
            statistics.gauge(interval, figure(Some(entity), name, "pages"), pages as f64);
        }
    }
}

fn figure<'a>(entity: Option<&'a str>, name: &'a str, unit: &'a str) -> Figure<'a> {
    Figure {
        component: "kernel",
        entity,
        name,
        unit,
    }
}

fn counts(vmstat: &[u8]) -> Counts {
    let mut found = Counts::default();
    for line in lines(vmstat) {
        let Some(place) = COUNTERS.iter().position(|(key, _)| line.starts_with(key.as_bytes())) else {
            continue;
        };
        if let Some(count) = fields(line).nth(1).and_then(number) {
            found[place] = Some(found[place].unwrap_or(0) + count);
        }
    }
    found
}

/// Number, free bytes, and free bytes in blocks of `huge_bytes` and more, of each node: /proc/buddyinfo has for each zone the
/// number of free blocks of 1, 2, 4, ... pages.
fn free_blocks(buddyinfo: &[u8], page_bytes: u64, huge_bytes: u64) -> Vec<(u64, u64, u64)> {
    let mut nodes: Vec<(u64, u64, u64)> = Vec::new();
    for line in lines(buddyinfo) {
        let mut words = fields(line);
        let Some(node) = words.nth(1).and_then(number) else {
            continue;
        };
        if nodes.last().is_none_or(|last| last.0 != node) {
            nodes.push((node, 0, 0));
        }
        let Some(sums) = nodes.last_mut() else { continue };
        // After the node: "zone" and its name.
        for (order, blocks) in words.skip(2).map_while(number).enumerate() {
            let block_bytes = page_bytes << order;
            sums.1 += blocks * block_bytes;
            if block_bytes >= huge_bytes {
                sums.2 += blocks * block_bytes;
            }
        }
    }
    nodes
}

/// Folders called by a number after some word, in its order.
fn numbered(folder: &Path, word: &str) -> Vec<(u64, PathBuf)> {
    let mut found: Vec<(u64, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((
                number(entry.file_name().to_str()?.strip_prefix(word)?.as_bytes())?,
                entry.path(),
            ))
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_zones_are_added_up_and_names_kept_apart() {
        let found = counts(
            b"allocstall_dma 0\nallocstall_normal 40\nallocstall_movable 2\ncompact_stall 7\nthp_fault_fallback 6\n\
              thp_fault_fallback_charge 900\nthp_collapse_alloc 5\nthp_collapse_alloc_failed 3\n",
        );
        let of = |name: &str| found[COUNTERS.iter().position(|(_, known)| *known == name).unwrap()];
        assert_eq!(
            (of("vmstat.allocstall"), of("vmstat.compact_stall")),
            (Some(42), Some(7))
        );
        assert_eq!(
            (of("vmstat.thp_fault_fallback"), of("vmstat.thp_collapse_alloc")),
            (Some(6), Some(5))
        );
        assert_eq!(
            (of("vmstat.thp_collapse_alloc_failed"), of("vmstat.compact_fail")),
            (Some(3), None)
        );
    }

    #[test]
    fn large_blocks_are_summed_over_the_zones_of_a_node() {
        let text = b"Node 0, zone      DMA      1      0      0      0      0      0      0      0      0      1      3 \n\
                     Node 0, zone   Normal      2      0      0      0      0      0      0      0      1      0      1 \n\
                     Node 1, zone   Normal      5      0      0\n";
        let (four, two) = (4 << 20, 2 << 20);
        assert_eq!(
            free_blocks(text, 4096, two),
            [
                (0, 3 * 4096 + two + 4 * four + (1 << 20), two + 4 * four),
                (1, 5 * 4096, 0)
            ]
        );
    }

    #[test]
    fn pools_without_pages_are_left_out() {
        let sys = tempfile::tempdir().unwrap();
        for (size, pages) in [("hugepages-2048kB", "12\n"), ("hugepages-1048576kB", "0\n")] {
            let pool = sys.path().join("kernel/mm/hugepages").join(size);
            fs::create_dir_all(&pool).unwrap();
            fs::write(pool.join("nr_hugepages"), pages).unwrap();
        }
        let pools = numbered(&sys.path().join("kernel/mm/hugepages"), "hugepages-");
        assert_eq!(pools.iter().map(|pool| pool.0).collect::<Vec<_>>(), [2048, 1_048_576]);
    }
}
