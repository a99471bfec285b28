//! When a sample was taken and what it covers, and how counts become rates.

use std::io;

/// One moment on three clocks, nanoseconds. Only `wall` can be set, only `boot` goes on while the machine sleeps.
#[derive(Clone, Copy)]
pub struct Moment {
    pub wall: i64,
    pub monotonic: i64,
    pub boot: i64,
}

impl Moment {
    pub fn now() -> io::Result<Self> {
        Ok(Self {
            wall: clock(libc::CLOCK_REALTIME)?,
            monotonic: clock(libc::CLOCK_MONOTONIC)?,
            boot: clock(libc::CLOCK_BOOTTIME)?,
        })
    }
}

pub fn clock(id: libc::clockid_t) -> io::Result<i64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that outlives the call.
    match unsafe { libc::clock_gettime(id, &mut time) } {
        0 => Ok(time.tv_sec * 1_000_000_000 + time.tv_nsec),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What the rows of one sample cover: its end by the wall clock and its length by the monotonic one.
#[derive(Clone, Copy)]
pub struct Interval {
    pub ts_us: i64,
    /// Nothing in the first sample, which can give no rate.
    pub seconds: Option<f64>,
}

impl Interval {
    pub fn between(before: Option<&Moment>, now: &Moment) -> Self {
        let seconds = before.map(|before| (now.monotonic - before.monotonic) as f64 / 1e9);
        Self {
            ts_us: now.wall / 1000,
            seconds: seconds.filter(|seconds| *seconds > 0.0),
        }
    }

    /// Its length as rows have it, to the millisecond: rates use the exact one, and the same number in every row packs well.
    pub fn rounded_s(&self) -> Option<f64> {
        self.seconds.map(|seconds| (seconds * 1000.0).round() / 1000.0)
    }

    /// `count` per second.
    pub fn rate(&self, count: f64) -> Option<f64> {
        self.seconds.map(|seconds| tidy(count / seconds))
    }

    /// `count` per second with the digits that a share of time needs.
    pub fn precise_rate(&self, count: f64) -> Option<f64> {
        self.seconds.map(|seconds| (count / seconds * 1e4).round() / 1e4)
    }

    /// The increase of a counter per second; nothing when either reading is missing or the counter went down.
    pub fn increase(&self, before: Option<u64>, now: Option<u64>) -> Option<f64> {
        self.rate(now?.checked_sub(before?)? as f64)
    }

    /// Nanoseconds of the interval as a percentage of it.
    pub fn share(&self, nanoseconds: f64) -> Option<f64> {
        self.seconds.map(|seconds| percent(nanoseconds / seconds / 1e7))
    }
}

/// A percentage to 0.01: finer digits are noise that only fills the disk.
pub fn percent(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// A figure to three digits at least: to 0.01 below 10, to 0.1 below 100, above that whole, for the same reason.
pub fn tidy(value: f64) -> f64 {
    match value.abs() {
        ..10.0 => percent(value),
        ..100.0 => (value * 10.0).round() / 10.0,
        _ => value.round(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64, wall: i64) -> Moment {
        Moment {
            wall: wall * 1_000_000_000,
            monotonic: seconds * 1_000_000_000,
            boot: seconds * 1_000_000_000,
        }
    }

    #[test]
    fn a_jump_of_the_wall_clock_changes_no_rate() {
        let (before, now) = (at(10, 1000), at(12, 5000));
        let interval = Interval::between(Some(&before), &now);
        assert_eq!(interval.increase(Some(5), Some(9)), Some(2.0));
        assert_eq!(interval.ts_us, 5_000_000_000);
    }

    #[test]
    fn no_rate_without_two_rising_readings() {
        let interval = Interval::between(Some(&at(1, 1)), &at(2, 2));
        assert_eq!(interval.increase(None, Some(1)), None);
        assert_eq!(interval.increase(Some(2), Some(1)), None);
        assert_eq!(Interval::between(None, &at(1, 1)).increase(Some(1), Some(2)), None);
    }

    #[test]
    fn digits_below_the_noise_are_dropped() {
        assert_eq!(tidy(0.12345), 0.12);
        assert_eq!(tidy(29.97), 30.0);
        assert_eq!(tidy(123456.7), 123457.0);
        assert_eq!(percent(99.996), 100.0);
    }
}
