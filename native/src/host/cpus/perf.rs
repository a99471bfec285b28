//! Counters of the kernel's performance events (perf_event_open(2)): moves of tasks between CPUs, system calls, by CPU or by task.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, RawFd};

/// PERF_TYPE_SOFTWARE with PERF_COUNT_SW_CPU_MIGRATIONS, and PERF_TYPE_TRACEPOINT, of linux/perf_event.h.
pub const SOFTWARE: u32 = 1;
pub const MIGRATIONS: u64 = 4;
pub const TRACEPOINT: u32 = 2;
/// struct perf_event_attr as of its first version; the kernel takes what is missing for zero.
const ATTRIBUTES_LENGTH: usize = 64;
const CLOSE_ON_EXEC: u64 = 8;
/// Each takes a descriptor: with those of kept processes, more could reach the usual limit of 1,024.
const CPUS_AT_MOST: usize = 128;
const EVERYBODY: i32 = -1;
const ANY_CPU: i64 = -1;
const NO_GROUP: i64 = -1;
/// PERF_FORMAT_TOTAL_TIME_ENABLED, PERF_FORMAT_TOTAL_TIME_RUNNING and PERF_FORMAT_GROUP.
const READ_GROUP: u64 = 1 | 2 | 8;

/// Counts one event on each CPU since it was opened.
pub struct ByCpu {
    by_cpu: Vec<(i64, File)>,
}

impl ByCpu {
    pub fn open(kind: u32, event: u64, cpus: impl Iterator<Item = i64>) -> io::Result<Self> {
        let cpus: Vec<i64> = cpus.take(CPUS_AT_MOST + 1).collect();
        if cpus.len() > CPUS_AT_MOST {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("counted on up to {CPUS_AT_MOST} CPUs"),
            ));
        }
        let by_cpu = cpus
            .into_iter()
            .map(|cpu| Ok((cpu, counter(kind, event, EVERYBODY, cpu)?)))
            .collect::<io::Result<_>>()?;
        Ok(Self { by_cpu })
    }

    pub fn covers(&self, cpus: impl Iterator<Item = i64>) -> bool {
        cpus.eq(self.by_cpu.iter().map(|(cpu, _)| *cpu))
    }

    /// Counts so far, of each CPU.
    pub fn read(&mut self) -> io::Result<Vec<(i64, u64)>> {
        let mut value = [0; 8];
        let counts = self.by_cpu.iter_mut().map(|(cpu, counter)| {
            counter.read_exact(&mut value)?;
            Ok((*cpu, u64::from_ne_bytes(value)))
        });
        counts.collect()
    }

    pub fn into_files(self) -> Vec<File> {
        self.by_cpu.into_iter().map(|(_, file)| file).collect()
    }
}

/// Whether an error is of this moment alone, and says nothing of what is granted or there: the task has ended, there is no
/// descriptor or no memory left, another one holds the counters for itself.
pub fn is_passing(error: &io::Error) -> bool {
    const PASSING: [i32; 7] = [
        libc::ESRCH,
        libc::EMFILE,
        libc::ENFILE,
        libc::ENOMEM,
        libc::EBUSY,
        libc::EINTR,
        libc::EAGAIN,
    ];
    error.raw_os_error().is_some_and(|code| PASSING.contains(&code))
}

/// A counter of one event of a type, for one task on any CPU (-1), or for everybody (-1) on one CPU.
pub fn counter(kind: u32, event: u64, task: i32, cpu: i64) -> io::Result<File> {
    open(kind, event, (task, cpu), NO_GROUP, 0)
}

/// A counter of one task, in a group that is counted together; `leader` is the first of it, -1 for itself. A read of the leader
/// gives the counts of all: `Group::parse`.
pub fn of_group(kind: u32, event: u64, task: i32, leader: RawFd) -> io::Result<File> {
    open(kind, event, (task, ANY_CPU), i64::from(leader), READ_GROUP)
}

/// What a group counted: for how long it was to, for how long it did, and its counts in the order of their opening.
#[derive(Debug, PartialEq)]
pub struct Group {
    enabled_ns: u64,
    running_ns: u64,
    counts: Vec<u64>,
}

impl Group {
    /// Numbers as the kernel writes them: how many counts, the two times, the counts.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut numbers = bytes
            .chunks_exact(8)
            .map(|chunk| u64::from_ne_bytes(chunk.try_into().unwrap_or_default()));
        let (count, enabled_ns, running_ns) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let counts: Vec<u64> = numbers.take(count as usize).collect();
        (counts.len() as u64 == count).then_some(Self {
            enabled_ns,
            running_ns,
            counts,
        })
    }

    /// The counts as they would be had it counted all the time: others may want the same counters. Nothing where it never did.
    pub fn scaled(&self) -> Option<Vec<f64>> {
        let factor = self.enabled_ns as f64 / self.running_ns as f64;
        (self.running_ns > 0).then(|| self.counts.iter().map(|count| *count as f64 * factor).collect())
    }
}

fn open(kind: u32, event: u64, (task, cpu): (i32, i64), leader: i64, read_format: u64) -> io::Result<File> {
    let mut attributes = [0u8; ATTRIBUTES_LENGTH];
    attributes[..4].copy_from_slice(&kind.to_ne_bytes());
    attributes[4..8].copy_from_slice(&(ATTRIBUTES_LENGTH as u32).to_ne_bytes());
    attributes[8..16].copy_from_slice(&event.to_ne_bytes());
    attributes[32..40].copy_from_slice(&read_format.to_ne_bytes());
    // SAFETY: the attributes outlive the call, whose length they name, and the descriptor is owned from here on.
    unsafe {
        match libc::syscall(
            libc::SYS_perf_event_open,
            attributes.as_ptr(),
            i64::from(task),
            cpu,
            leader,
            CLOSE_ON_EXEC,
        ) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(File::from_raw_fd(descriptor as RawFd)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_many_cpus_keeps_its_descriptors() {
        let refused = ByCpu::open(SOFTWARE, MIGRATIONS, 0..CPUS_AT_MOST as i64 + 1)
            .err()
            .unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
    }

    fn numbers(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    #[test]
    fn a_group_that_others_took_turns_with_is_scaled() {
        let group = Group::parse(&numbers(&[2, 1000, 250, 4000, 100])).unwrap();
        assert_eq!(group.scaled(), Some(vec![16000.0, 400.0]));
    }

    #[test]
    fn a_group_that_never_counted_or_is_cut_tells_nothing() {
        assert_eq!(Group::parse(&numbers(&[1, 1000, 0, 0])).unwrap().scaled(), None);
        assert_eq!(Group::parse(&numbers(&[2, 1000, 250, 4000])), None);
        assert_eq!(Group::parse(b"short"), None);
    }
}
