//! Pressure stall information: the share of time in which tasks waited for a resource.
//!
//! Source: Johannes Weiner, "psi: pressure stall information", Linux 4.20 (2018), Documentation/accounting/psi.rst.
//! The kernel's averages over 10, 60 and 300 s are left alone: the totals, in microseconds, give the interval's own share.

use std::io;
use std::path::PathBuf;

use super::files::Kept;
use super::interval::Interval;
use super::text::{lines, value};

/// Microseconds stalled since boot, of some task and of all runnable tasks at once.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Stalled {
    pub some: Option<u64>,
    pub full: Option<u64>,
}

pub fn parse(text: &[u8]) -> Stalled {
    let mut stalled = Stalled::default();
    for line in lines(text) {
        let total = line
            .split(|&byte| byte == b' ')
            .find_map(|field| value(field, b"total"));
        match line.first() {
            Some(b's') => stalled.some = total,
            Some(b'f') => stalled.full = total,
            _ => {}
        }
    }
    stalled
}

/// Shares of an interval, percent.
#[derive(Clone, Copy, Default)]
pub struct Shares {
    pub some: Option<f64>,
    pub full: Option<f64>,
}

pub struct Pressure {
    file: Kept,
    before: Stalled,
}

impl Pressure {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            file: Kept::new(path),
            before: Stalled::default(),
        }
    }

    /// The shares since the last call; an error where the kernel does not count pressure.
    pub fn sample(&mut self, interval: &Interval) -> io::Result<Shares> {
        let now = parse(self.file.read()?);
        let before = std::mem::replace(&mut self.before, now);
        let share = |before: Option<u64>, now: Option<u64>| {
            let stalled_us = now?.checked_sub(before?)?;
            Some(interval.share(stalled_us as f64 * 1000.0)?.min(100.0))
        };
        Ok(Shares {
            some: share(before.some, now.some),
            full: share(before.full, now.full),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_and_an_absent_line_is_unknown() {
        let text = b"some avg10=63.54 avg60=17.33 avg300=4.27 total=24816914\n";
        assert_eq!(
            parse(text),
            Stalled {
                some: Some(24_816_914),
                full: None
            }
        );
        assert_eq!(parse(b"some avg10=0.00"), Stalled::default());
    }
}
