//! Counts the system calls of running processes in the kernel: calls, times, errors, and the passes of a loop.
//!
//! Its programs are loaded as they are (bpf(2)), without a compiler and without tracefs. Each call costs the process that
//! makes it a tenth of a microsecond or two more than a tracepoint that does nothing (benchmarks/cost/trace_live.py).

mod assembler;
mod btf;
mod kernel;
mod programs;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use kernel::{Attached, Kind, Map, attach};
use programs::{BUCKETS, CALL_WORDS, CALLS, DISTRIBUTION_WORDS, Known, PASSES_WORDS, THREAD_BYTES, WATCHED};

const MOST_THREADS: u32 = 32_768;
const BTF: &str = "/sys/kernel/btf/vmlinux";
/// PROC_PID_INIT_INO of the kernel: the numbers of processes there are those that programs see.
const FIRST_NAMESPACE: u64 = 0xeffffffc;

/// Counts from its making on, until it is dropped.
#[pyclass(module = "doctord._native", unsendable)]
pub struct CallCounter {
    calls: Map,
    passes: Map,
    cpus: usize,
    _attached: Vec<Attached>,
}

#[pymethods]
impl CallCounter {
    #[new]
    fn new(pids: Vec<u32>, idle: Vec<i32>, accept: Vec<i32>) -> PyResult<Self> {
        Self::begin(&pids, &idle, &accept).map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// What was counted so far.
    fn sums<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let told = PyDict::new(py);
        let calls = PyDict::new(py);
        for (number, counts) in self.called()? {
            let call = distribution(py, &counts)?;
            call.set_item("errors", counts[DISTRIBUTION_WORDS])?;
            call.set_item("waits", counts[DISTRIBUTION_WORDS + 1])?;
            calls.set_item(number, call)?;
        }
        let passes = self.summed(&self.passes, 0)?;
        told.set_item("calls", calls)?;
        told.set_item("passes", distribution(py, &passes)?)?;
        told.set_item("accepting_passes", distribution(py, &passes[DISTRIBUTION_WORDS..])?)?;
        told.set_item("accepts", passes[2 * DISTRIBUTION_WORDS])?;
        told.set_item("idle_ns", passes[2 * DISTRIBUTION_WORDS + 1])?;
        Ok(told)
    }
}

impl CallCounter {
    fn begin(pids: &[u32], idle: &[i32], accept: &[i32]) -> io::Result<Self> {
        if fs::metadata("/proc/self/ns/pid")?.ino() != FIRST_NAMESPACE {
            return Err(io::Error::other(
                "in a container processes have other numbers than the kernel gives them",
            ));
        }
        let task = fs::read(BTF).map_err(|error| io::Error::new(error.kind(), format!("{BTF}: {error}")))?;
        let members = btf::offsets(&task, "task_struct", ["pid", "tgid"])?;
        kernel::allow_locked_memory();
        let threads = Map::new(Kind::Hash, THREAD_BYTES, MOST_THREADS)?;
        let calls = Map::new(Kind::ArrayByCpu, 8 * CALL_WORDS, CALLS)?;
        let passes = Map::new(Kind::ArrayByCpu, 8 * PASSES_WORDS, 1)?;
        let [threads_fd, calls_fd, passes_fd] = [&threads, &calls, &passes].map(Map::descriptor);
        let known = Known {
            threads: threads_fd,
            calls: calls_fd,
            passes: passes_fd,
            idle,
            accept,
        };
        let mut attached = vec![
            attach(c"sched_process_fork", &programs::fork(&known, members))?,
            attach(c"sched_process_exit", &programs::end(&known))?,
        ];
        look_at(pids, &threads)?; // whoever is forked meanwhile is found by the program or by the list
        attached.push(attach(c"sys_exit", &programs::exit(&known))?);
        attached.push(attach(c"sys_enter", &programs::enter(&known))?);
        Ok(Self {
            calls,
            passes,
            cpus: kernel::possible_cpus()?,
            _attached: attached,
        })
    }

    fn called(&self) -> io::Result<BTreeMap<u32, Vec<u64>>> {
        let all = (0..CALLS).map(|number| Ok((number, self.summed(&self.calls, number)?)));
        let called =
            all.filter(|each: &io::Result<(u32, Vec<u64>)>| !matches!(each, Ok((_, counts)) if counts[0] == 0));
        called.collect()
    }

    /// Over all CPUs; of what is the longest on each, the longest.
    fn summed(&self, map: &Map, key: u32) -> io::Result<Vec<u64>> {
        let values = map.by_cpu(key, self.cpus)?;
        let words = values.len() / self.cpus;
        let mut sums = vec![0; words];
        for value in values.chunks_exact(words) {
            for (at, (sum, word)) in sums.iter_mut().zip(value).enumerate() {
                let is_longest = at % DISTRIBUTION_WORDS == 2 && at / DISTRIBUTION_WORDS < words / DISTRIBUTION_WORDS;
                *sum = if is_longest { (*word).max(*sum) } else { *sum + word };
            }
        }
        Ok(sums)
    }
}

/// Puts all threads of processes into the map; those of the first process are timed.
fn look_at(pids: &[u32], threads: &Map) -> io::Result<()> {
    let mut known = BTreeSet::new();
    loop {
        let before = known.len();
        for pid in pids {
            let mut entry = [0; THREAD_BYTES];
            entry[WATCHED as usize] = u8::from(pids.first() == Some(pid)); // of a number in the machine's order
            for thread in tasks(*pid) {
                if known.insert(thread) {
                    threads.insert(thread, &entry)?;
                }
            }
        }
        if known.len() == before {
            return Ok(());
        }
    }
}

fn tasks(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return vec![];
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Count, ns, longest_ns, and the buckets that have any: `min` and `max` in ns, and `count`.
fn distribution<'py>(py: Python<'py>, words: &[u64]) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("count", words[0])?;
    told.set_item("ns", words[1])?;
    told.set_item("longest_ns", words[2])?;
    let buckets = (0..BUCKETS)
        .zip(&words[3..3 + BUCKETS])
        .filter(|(_, count)| **count > 0);
    let buckets = buckets.map(|(power, count)| {
        let bucket = PyDict::new(py);
        bucket.set_item("min", if power == 0 { 0 } else { 1u64 << power })?;
        bucket.set_item("max", (2u64 << power) - 1)?;
        bucket.set_item("count", count)?;
        Ok(bucket)
    });
    told.set_item("buckets", buckets.collect::<PyResult<Vec<_>>>()?)?;
    Ok(told)
}
