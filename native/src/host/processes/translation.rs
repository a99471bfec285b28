//! What address translation costs a process, by the processor's own counters: cycles in walks through the page tables, or only the
//! misses that lead to them.
//!
//! Which event counts cycles in walks depends on the model; those of Intel's servers are known here, from Intel's lists of events
//! (github.com/intel/perfmon: DTLB_LOAD_MISSES.WALK_ACTIVE, DTLB_STORE_MISSES.WALK_ACTIVE). On others the kernel's own names for the misses
//! are all there is. Most virtual machines have no counters.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::host::cpus::perf::{self, Group};
use crate::host::text::lines;

/// PERF_TYPE_HARDWARE with PERF_COUNT_HW_CPU_CYCLES, PERF_TYPE_HW_CACHE and PERF_TYPE_RAW of linux/perf_event.h.
const HARDWARE: u32 = 0;
const CYCLES: u64 = 0;
const CACHE: u32 = 3;
const RAW: u32 = 4;
/// PERF_COUNT_HW_CACHE_DTLB with the result PERF_COUNT_HW_CACHE_RESULT_MISS, of the operations READ and WRITE.
const LOAD_MISSES: u64 = 3 | 1 << 16;
const STORE_MISSES: u64 = LOAD_MISSES | 1 << 8;
const ITSELF: i32 = -1;
/// Counts in a group at most: cycles, two walks, two misses.
const AT_MOST: usize = 5;

/// The events of one processor that count cycles with a walk going on: for a load, and for a store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walks {
    load: u64,
    store: u64,
}

impl Walks {
    /// Those of the processor that /proc/cpuinfo tells of; nothing where they are not known.
    pub fn of(cpuinfo: &[u8]) -> Option<Self> {
        let field = |name: &str| {
            lines(cpuinfo).find_map(|line| {
                let (key, text) = std::str::from_utf8(line).ok()?.split_once(':')?;
                (key.trim() == name).then(|| text.trim().to_string())
            })
        };
        let is_known = field("vendor_id")? == "GenuineIntel" && field("cpu family")? == "6";
        match field("model")?.parse().ok().filter(|_| is_known)? {
            // Skylake and Cascade Lake, Kaby Lake, Ice Lake, Tiger Lake.
            78 | 85 | 94 | 106 | 108 | 125 | 126 | 140 | 141 | 142 | 158 => Some(Self::with(0x08, 0x49)),
            // Sapphire Rapids, Emerald Rapids.
            143 | 207 => Some(Self::with(0x12, 0x13)),
            _ => None,
        }
    }

    /// Event, unit mask 0x10, and a threshold of 1: cycles in which at least one walk goes on.
    fn with(load: u64, store: u64) -> Self {
        let config = |event: u64| event | 0x10 << 8 | 1 << 24;
        Self {
            load: config(load),
            store: config(store),
        }
    }
}

/// What was counted of a process: cycles, those with a walk going on, and misses of the translation buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Translation {
    pub cycles: f64,
    pub walks: Option<f64>,
    pub misses: Option<f64>,
}

impl Translation {
    /// Share of its cycles with a walk going on, %.
    pub fn walk_pct(&self) -> Option<f64> {
        let walks = self.walks.filter(|_| self.cycles > 0.0)?;
        Some((100.0 * walks / self.cycles).min(100.0))
    }
}

/// The counters of the threads that a process had when they were opened.
pub struct Counters {
    by_thread: Vec<Thread>,
}

struct Thread {
    /// The first leads the group.
    files: Vec<File>,
    walks: usize,
}

impl Counters {
    /// An error of kind `NotFound` where the processor has none, or keeps them from this machine.
    pub fn open(walks: Option<Walks>, threads: impl Iterator<Item = i32>) -> io::Result<Self> {
        let by_thread = threads
            .map(|thread| Thread::open(walks, thread))
            .collect::<io::Result<_>>()?;
        Ok(Self { by_thread })
    }

    /// Counts so far; nothing where no thread was counted at any time.
    pub fn read(&mut self) -> Option<Translation> {
        let counted: Vec<Translation> = self.by_thread.iter_mut().filter_map(Thread::read).collect();
        (!counted.is_empty()).then(|| Translation {
            cycles: counted.iter().map(|one| one.cycles).sum(),
            walks: counted.iter().map(|one| one.walks).sum(),
            misses: counted.iter().map(|one| one.misses).sum(),
        })
    }
}

impl Thread {
    fn open(walks: Option<Walks>, thread: i32) -> io::Result<Self> {
        let leader = perf::of_group(HARDWARE, CYCLES, thread, ITSELF)?;
        let group = leader.as_raw_fd();
        let mut files = vec![leader];
        let members = |pairs: [(u32, u64); 2], files: &mut Vec<File>| {
            let opened: io::Result<Vec<File>> = pairs
                .into_iter()
                .map(|(kind, event)| perf::of_group(kind, event, thread, group))
                .collect();
            let opened = opened.unwrap_or_default(); // some count loads alone, some neither
            let count = opened.len();
            files.extend(opened);
            count
        };
        let walks = walks.map_or(0, |walks| members([(RAW, walks.load), (RAW, walks.store)], &mut files));
        if members([(CACHE, LOAD_MISSES), (CACHE, STORE_MISSES)], &mut files) == 0 {
            files.extend(perf::of_group(CACHE, LOAD_MISSES, thread, group));
        }
        Ok(Self { files, walks })
    }

    fn read(&mut self) -> Option<Translation> {
        let mut bytes = [0; 8 * (3 + AT_MOST)];
        let length = self.files.first_mut()?.read(&mut bytes).ok()?;
        told(&Group::parse(&bytes[..length])?, self.walks)
    }
}

/// What a group tells in which so many counts of walks stand behind the cycles, and those of misses behind them.
fn told(group: &Group, walks: usize) -> Option<Translation> {
    let counts = group.scaled()?;
    let (cycles, rest) = counts.split_first()?;
    let (walked, missed) = rest.split_at_checked(walks)?;
    let sum = |counts: &[f64]| (!counts.is_empty()).then(|| counts.iter().sum());
    Some(Translation {
        cycles: *cycles,
        walks: sum(walked),
        misses: sum(missed),
    })
}

/// Reads which events there are, once.
pub fn walks_here(proc: &Path) -> Option<Walks> {
    Walks::of(&std::fs::read(proc.join("cpuinfo")).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUINFO: &str =
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: x\n";

    fn group(values: &[u64]) -> Group {
        Group::parse(&values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>()).unwrap()
    }

    #[test]
    fn events_of_models_that_are_known() {
        let of = |from: &str, to: &str| Walks::of(CPUINFO.replace(from, to).as_bytes());
        assert_eq!(
            of("", ""),
            Some(Walks {
                load: 0x0100_1008,
                store: 0x0100_1049
            })
        );
        assert_eq!(
            of(": 85", ": 143"),
            Some(Walks {
                load: 0x0100_1012,
                store: 0x0100_1013
            })
        );
        assert_eq!(of(": 85", ": 15"), None);
        assert_eq!(of("GenuineIntel", "AuthenticAMD"), None);
        assert_eq!(Walks::of(b"processor : 0\nCPU implementer : 0x41\n"), None);
    }

    #[test]
    fn walks_are_a_share_of_the_cycles() {
        let counted = told(&group(&[5, 1000, 500, 1_000_000, 200_000, 50_000, 700, 30]), 2).unwrap();
        assert_eq!(
            (counted.cycles, counted.walks, counted.misses),
            (2e6, Some(5e5), Some(1460.0))
        );
        assert_eq!(counted.walk_pct(), Some(25.0));
    }

    #[test]
    fn misses_alone_are_no_time() {
        let counted = told(&group(&[2, 1000, 1000, 1_000_000, 700]), 0).unwrap();
        assert_eq!((counted.walk_pct(), counted.misses), (None, Some(700.0)));
        assert_eq!(told(&group(&[1, 1000, 1000, 1_000_000]), 0).unwrap().misses, None);
        assert_eq!(told(&group(&[1, 1000, 1000, 1_000_000]), 2), None);
    }

    #[test]
    fn walks_of_a_process_that_did_not_run_have_no_share() {
        assert_eq!(Translation::default().walk_pct(), None);
    }
}
