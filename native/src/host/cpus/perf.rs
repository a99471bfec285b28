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

/// A counter of one event of a type, for one task on any CPU (-1), or for everybody (-1) on one CPU.
pub fn counter(kind: u32, event: u64, task: i32, cpu: i64) -> io::Result<File> {
    let mut attributes = [0u8; ATTRIBUTES_LENGTH];
    attributes[..4].copy_from_slice(&kind.to_ne_bytes());
    attributes[4..8].copy_from_slice(&(ATTRIBUTES_LENGTH as u32).to_ne_bytes());
    attributes[8..16].copy_from_slice(&event.to_ne_bytes());
    let no_group = -1i64;
    // SAFETY: the attributes outlive the call, whose length they name, and the descriptor is owned from here on.
    unsafe {
        match libc::syscall(
            libc::SYS_perf_event_open,
            attributes.as_ptr(),
            i64::from(task),
            cpu,
            no_group,
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
}
