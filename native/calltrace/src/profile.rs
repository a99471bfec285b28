//! Sums over the whole trace: by call, by error, by what a descriptor stands for, by size.

use rustc_hash::FxHashMap;

use crate::digest::files::Reading;
use crate::journal::ProcessId;
use crate::part::part;

/// Durations in buckets of an eighth of a power of two: percentiles are right to 12 %.
#[derive(Clone, Debug)]
pub struct Durations(Vec<u32>);

const STEPS: u32 = 8;

impl Default for Durations {
    fn default() -> Durations {
        Durations(vec![0; 64 * STEPS as usize])
    }
}

impl Durations {
    fn add(&mut self, nanoseconds: u64) {
        let slot = &mut self.0[Durations::bucket(nanoseconds)];
        *slot = slot.saturating_add(1);
    }

    fn bucket(nanoseconds: u64) -> usize {
        let value = nanoseconds.max(1);
        let power = value.ilog2();
        // The three bits below the highest one.
        let step = if power >= 3 {
            (value >> (power - 3)) as u32 & 7
        } else {
            (value << (3 - power)) as u32 & 7
        };
        (power * STEPS + step) as usize
    }

    fn middle_s(bucket: usize) -> f64 {
        let (power, step) = (bucket / STEPS as usize, bucket % STEPS as usize);
        (1.0 + (step as f64 + 0.5) / f64::from(STEPS)) * (power as f64).exp2() / 1e9
    }

    /// The duration below which a share (0 to 1) of them lies, in seconds; null when there is none.
    pub fn quantile_s(&self, share: f64) -> Option<f64> {
        let total: u64 = self.0.iter().map(|&count| u64::from(count)).sum();
        let rank = ((total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (bucket, &count) in self.0.iter().enumerate() {
            seen += u64::from(count);
            if count > 0 && seen >= rank {
                return Some(Durations::middle_s(bucket));
            }
        }
        None
    }
}

/// Sums of one call's name.
#[derive(Clone, Debug, Default)]
pub struct CallSum {
    pub count: u64,
    pub errors: u64,
    /// Calls whose duration the trace gives.
    pub timed: u64,
    pub seconds: f64,
    pub cpu_s: f64,
    pub max_s: f64,
    pub durations: Durations,
}

/// Sums of one process.
#[derive(Clone, Debug, Default)]
pub struct ProcessSum {
    pub calls: u64,
    pub errors: u64,
    pub in_calls_s: f64,
    pub outside_calls_s: f64,
    pub cpu_s: f64,
    /// Time that an excerpt leaves out.
    pub unseen_s: f64,
    pub last_ns: u64,
}

part! {
    /// What descriptors stood for: a file, a socket's peer, a pipe.
    #[derive(Clone, Debug, Default)]
    pub struct Target {
        /// Path or peer.
        pub target: String,
        /// Calls on it.
        pub calls: u64,
        /// Time in them.
        pub seconds: f64,
        /// How many read.
        pub reads: u64,
        /// As the calls returned.
        pub read_bytes: u64,
        /// How many wrote.
        pub writes: u64,
        /// As the calls returned.
        pub written_bytes: u64,
        /// Reads that begin where the last ended.
        pub sequential_reads: u64,
        /// Other reads.
        pub random_reads: u64,
        /// Seeks.
        pub seeks: u64,
        /// Seeks with a read next.
        pub seeks_then_read: u64,
        /// `fsync()`, `fdatasync()` and the like.
        pub syncs: u64,
    }
}

impl Target {
    pub fn count_reading(&mut self, reading: Reading) {
        self.seeks_then_read += u64::from(reading.after_seek);
        match reading.sequential {
            Some(true) => self.sequential_reads += 1,
            Some(false) => self.random_reads += 1,
            None => {}
        }
    }
}

/// Calls that moved data, by the size they returned: bucket n holds sizes up to 2^n.
#[derive(Clone, Debug)]
pub struct Sizes {
    pub calls: [u64; 65],
    pub bytes: [u64; 65],
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes {
            calls: [0; 65],
            bytes: [0; 65],
        }
    }
}

impl Sizes {
    pub fn add(&mut self, bytes: u64) {
        let bucket = bytes
            .checked_sub(1)
            .map_or(0, |below| (u64::BITS - below.leading_zeros()) as usize);
        self.calls[bucket] += 1;
        self.bytes[bucket] = self.bytes[bucket].saturating_add(bytes);
    }
}

/// All sums of a trace.
#[derive(Debug, Default)]
pub struct Profile {
    /// By index in `Journal::calls`.
    pub calls: Vec<CallSum>,
    /// By index in `Journal::processes`.
    pub processes: Vec<ProcessSum>,
    /// The first stands for what was not opened in the trace and could not be named.
    pub targets: Vec<Target>,
    /// By call and error.
    pub errors: FxHashMap<(u16, String), (u64, f64)>,
    /// The error that each process met last, by process and call: for calls that fail over and over.
    pub last_error: FxHashMap<(ProcessId, u16), String>,
    pub reads: Sizes,
    pub writes: Sizes,
}

impl Profile {
    /// Count a call, whatever is known of its duration.
    pub fn count_call(&mut self, process: ProcessId, call: u16, cpu_s: f64, failed: bool) {
        let sum = &mut self.calls[call as usize];
        sum.count += 1;
        sum.errors += u64::from(failed);
        sum.cpu_s += cpu_s;
        let sum = &mut self.processes[process as usize];
        sum.calls += 1;
        sum.errors += u64::from(failed);
        sum.cpu_s += cpu_s;
    }

    pub fn count_error(&mut self, process: ProcessId, call: u16, error: &[u8], elapsed_ns: Option<u64>) {
        let error = String::from_utf8_lossy(error).into_owned();
        let last = self.last_error.entry((process, call)).or_default();
        if *last != error {
            last.clone_from(&error);
        }
        let (count, seconds) = self.errors.entry((call, error)).or_default();
        *count += 1;
        *seconds += elapsed_ns.unwrap_or(0) as f64 / 1e9;
    }

    /// Add the duration of a call that was counted, once it is known.
    pub fn add_time(&mut self, process: ProcessId, call: u16, target: u32, elapsed_ns: u64) {
        let seconds = elapsed_ns as f64 / 1e9;
        let sum = &mut self.calls[call as usize];
        sum.timed += 1;
        sum.seconds += seconds;
        sum.max_s = sum.max_s.max(seconds);
        sum.durations.add(elapsed_ns);
        self.processes[process as usize].in_calls_s += seconds;
        self.targets[target as usize].seconds += seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_an_eighth() {
        let mut durations = Durations::default();
        assert_eq!(durations.quantile_s(0.5), None);
        for microseconds in 1..=1000_u64 {
            durations.add(microseconds * 1000);
        }
        for (share, expected) in [(0.5, 500e-6), (0.95, 950e-6), (0.99, 990e-6)] {
            let found = durations.quantile_s(share).unwrap();
            assert!((found / expected - 1.0).abs() < 0.13, "{share}: {found}");
        }
        durations.add(0);
        durations.add(u64::MAX);
        assert!(durations.quantile_s(1.0).unwrap() > 1e9);
    }

    #[test]
    fn sizes_fall_into_powers_of_two() {
        let mut sizes = Sizes::default();
        for bytes in [0, 1, 2, 3, 4, 8192, 8193, u64::MAX] {
            sizes.add(bytes);
        }
        assert_eq!(sizes.calls[0], 2);
        assert_eq!(
            (sizes.calls[1], sizes.calls[2], sizes.calls[13], sizes.calls[14]),
            (1, 2, 1, 1)
        );
        assert_eq!(sizes.calls[64], 1);
    }
}
