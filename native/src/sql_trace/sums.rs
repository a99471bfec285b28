//! What a trace sums up to, by intervals of ten seconds.

use rustc_hash::FxHashMap;

use super::line::{Call, Kind};

pub const INTERVAL_US: i64 = 10_000_000;
/// What lasts longer than this many intervals is not spread over them: no call of a session runs for weeks.
const MOST_INTERVALS: i64 = 1 << 18;

/// Waits for an event: how many ended in the interval, how long these took, and the time waited within it.
#[derive(Default, Clone, Copy)]
pub struct Waited {
    pub waits: u64,
    pub ended_us: u64,
    pub waited_us: u64,
}

/// What calls for a statement did that ended in the interval.
#[derive(Default, Clone, Copy)]
pub struct Executed {
    pub parses: u64,
    pub misses: u64,
    pub executions: u64,
    pub fetches: u64,
    pub elapsed_us: u64,
    pub cpu_us: u64,
    pub reads: u64,
    pub gets: u64,
    pub rows: u64,
    pub plan: u64,
}

/// Time of the session's own calls (not of those that they made in turn) within the interval, and its transactions.
#[derive(Default, Clone, Copy)]
pub struct Load {
    pub elapsed_us: u64,
    pub cpu_us: u64,
    pub commits: u64,
    pub rollbacks: u64,
}

/// Events and statements are given by their numbers.
#[derive(Default)]
pub struct Sums {
    pub waits: FxHashMap<(i64, u32), Waited>,
    pub statements: FxHashMap<(i64, u32), Executed>,
    pub statement_waits: FxHashMap<(i64, u32, u32), u64>,
    pub load: FxHashMap<i64, Load>,
    /// Microseconds in a unit of times.
    pub unit_us: u64,
}

impl Sums {
    pub fn wait(&mut self, end_us: i64, elapsed_us: u64, event: u32, statement: Option<u32>) {
        let sum = self.waits.entry((interval(end_us), event)).or_default();
        sum.waits += 1;
        sum.ended_us = sum.ended_us.saturating_add(elapsed_us);
        spread(end_us, elapsed_us, |interval, part_us| {
            let sum = self.waits.entry((interval, event)).or_default();
            sum.waited_us = sum.waited_us.saturating_add(part_us);
        });
        if let Some(statement) = statement {
            let waited = self
                .statement_waits
                .entry((interval(end_us), statement, event))
                .or_default();
            *waited = waited.saturating_add(elapsed_us);
        }
    }

    pub fn call(&mut self, end_us: i64, call: &Call<'_>, statement: Option<u32>) {
        let figure = |key: &[u8]| call.figure(key).unwrap_or(0);
        let elapsed_us = figure(b"e").saturating_mul(self.unit_us);
        let cpu_us = figure(b"c").saturating_mul(self.unit_us);
        if figure(b"dep") == 0 {
            self.own(end_us, elapsed_us, cpu_us);
        }
        let Some(statement) = statement else { return };
        let sum = self.statements.entry((interval(end_us), statement)).or_default();
        let count = match call.kind {
            Kind::Parse => &mut sum.parses,
            Kind::Exec => &mut sum.executions,
            Kind::Fetch => &mut sum.fetches,
            Kind::Rest => return,
        };
        *count += 1;
        sum.elapsed_us = sum.elapsed_us.saturating_add(elapsed_us);
        sum.cpu_us = sum.cpu_us.saturating_add(cpu_us);
        sum.reads = sum.reads.saturating_add(figure(b"p"));
        sum.gets = sum.gets.saturating_add(figure(b"cr")).saturating_add(figure(b"cu"));
        sum.rows = sum.rows.saturating_add(figure(b"r"));
        sum.misses = sum.misses.saturating_add(figure(b"mis"));
        sum.plan = call.figure(b"plh").filter(|plan| *plan > 0).unwrap_or(sum.plan);
    }

    pub fn end(&mut self, end_us: i64, is_rollback: bool) {
        let load = self.load.entry(interval(end_us)).or_default();
        *(if is_rollback {
            &mut load.rollbacks
        } else {
            &mut load.commits
        }) += 1;
    }

    fn own(&mut self, end_us: i64, elapsed_us: u64, cpu_us: u64) {
        spread(end_us, elapsed_us, |interval, part_us| {
            let load = self.load.entry(interval).or_default();
            load.elapsed_us = load.elapsed_us.saturating_add(part_us);
            let share = part_us as f64 / elapsed_us.max(1) as f64;
            let part_cpu_us = if elapsed_us == 0 {
                cpu_us
            } else {
                (cpu_us as f64 * share).round() as u64
            };
            load.cpu_us = load.cpu_us.saturating_add(part_cpu_us);
        });
    }
}

/// The end of the interval that a moment lies in.
pub fn interval(end_us: i64) -> i64 {
    (end_us.saturating_sub(1).div_euclid(INTERVAL_US) + 1).saturating_mul(INTERVAL_US)
}

/// Gives each interval its part of what ended at a moment, and took so long.
fn spread(end_us: i64, elapsed_us: u64, mut add: impl FnMut(i64, u64)) {
    let length_us = i64::try_from(elapsed_us).unwrap_or(i64::MAX);
    let begin_us = end_us.saturating_sub(length_us);
    let mut interval_end = interval(end_us);
    if length_us / INTERVAL_US > MOST_INTERVALS {
        return add(interval_end, elapsed_us);
    }
    let mut until_us = end_us;
    loop {
        let interval_begin = interval_end - INTERVAL_US;
        add(interval_end, (until_us - begin_us.max(interval_begin)).unsigned_abs());
        if begin_us >= interval_begin {
            return;
        }
        (until_us, interval_end) = (interval_begin, interval_begin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_spread_over_its_intervals() {
        let mut parts = Vec::new();
        spread(25_000_000, 21_000_000, |interval, us| {
            parts.push((interval / 1_000_000, us / 1_000_000))
        });
        assert_eq!(parts, [(30, 5), (20, 10), (10, 6)]);
        parts.clear();
        spread(20_000_000, 0, |interval, us| parts.push((interval / 1_000_000, us)));
        assert_eq!(parts, [(20, 0)]);
        spread(i64::MAX, u64::MAX, |_, us| assert_eq!(us, u64::MAX));
    }

    #[test]
    fn waited_time_is_where_it_was_waited_and_counts_where_waits_ended() {
        let mut sums = Sums {
            unit_us: 1,
            ..Sums::default()
        };
        sums.wait(15_000_000, 8_000_000, 0, Some(3));
        let of = |sums: &Sums, end: i64| sums.waits[&(end, 0)];
        assert_eq!(
            (of(&sums, 20_000_000).waits, of(&sums, 20_000_000).waited_us),
            (1, 5_000_000)
        );
        assert_eq!(
            (of(&sums, 10_000_000).waits, of(&sums, 10_000_000).waited_us),
            (0, 3_000_000)
        );
        assert_eq!(sums.statement_waits[&(20_000_000, 3, 0)], 8_000_000);
    }
}
