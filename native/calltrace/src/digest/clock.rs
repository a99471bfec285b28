//! Turns the stamps of a trace into nanoseconds since it began.

use crate::event::{Event, NO_TIME};
use crate::layout::{Clock, Layout};

const DAY_NS: i64 = 86_400_000_000_000;

/// Follows the stamps of one file.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    clock: Clock,
    origin_ns: Option<i64>,
    midnights: i64,
    /// Of the line before, as it stood there.
    last_stamp_ns: i64,
    now_ns: i64,
}

impl Timeline {
    pub fn new(layout: Layout) -> Timeline {
        Timeline {
            clock: layout.clock,
            ..Timeline::default()
        }
    }

    /// What times count from: nanoseconds since 1970 with `Clock::Epoch`, of the day with `Clock::Day`.
    pub fn origin_ns(&self) -> Option<i64> {
        self.origin_ns
    }

    /// Let several files of one trace (strace -ff) share what they count from.
    pub fn counting_from(mut self, origin_ns: Option<i64>) -> Timeline {
        if self.clock != Clock::Line {
            self.origin_ns = origin_ns;
        }
        self
    }

    /// When a line was written; the time of the line before when it has no stamp.
    pub fn at(&mut self, event: &Event) -> u64 {
        if event.stamp_ns != NO_TIME {
            self.now_ns = match self.clock {
                Clock::None => self.now_ns,
                Clock::Line => self.now_ns.saturating_add(event.stamp_ns.max(0)),
                Clock::Day => self.since_origin(event.stamp_ns, true),
                Clock::Epoch => self.since_origin(event.stamp_ns, false),
                Clock::Start => event.stamp_ns,
            };
        } else if self.clock == Clock::None && event.elapsed_ns != NO_TIME {
            // Without stamps calls are laid end to end: what lies between them is not known.
            let before = self.now_ns;
            self.now_ns = before.saturating_add(event.elapsed_ns.max(0));
            return before.max(0) as u64;
        }
        self.now_ns.max(0) as u64
    }

    fn since_origin(&mut self, stamp_ns: i64, wraps: bool) -> i64 {
        if self.origin_ns.is_some() && stamp_ns < self.last_stamp_ns {
            let back_ns = self.last_stamp_ns.saturating_sub(stamp_ns);
            self.midnights += i64::from(wraps && back_ns > DAY_NS / 2);
        }
        self.last_stamp_ns = stamp_ns;
        let origin = *self.origin_ns.get_or_insert(stamp_ns);
        stamp_ns
            .saturating_sub(origin)
            .saturating_add(self.midnights.saturating_mul(DAY_NS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(clock: Clock, stamps: &[i64]) -> Vec<u64> {
        let mut timeline = Timeline::new(Layout {
            clock,
            ..Layout::default()
        });
        let at = |&stamp_ns: &i64| {
            timeline.at(&Event {
                stamp_ns,
                ..Event::default()
            })
        };
        stamps.iter().map(at).collect()
    }

    #[test]
    fn stamps_count_from_the_first() {
        assert_eq!(
            times(Clock::Epoch, &[1_000, 1_500, NO_TIME, 2_000]),
            [0, 500, 500, 1_000]
        );
        assert_eq!(times(Clock::Line, &[0, 5, 7]), [0, 5, 12]);
        assert_eq!(times(Clock::Start, &[1_000, 1_500]), [1_000, 1_500]);
    }

    #[test]
    fn midnight_is_no_step_back_and_absurd_stamps_do_no_harm() {
        assert_eq!(times(Clock::Day, &[DAY_NS - 10, 5]), [0, 15]);
        assert_eq!(times(Clock::Epoch, &[100, 90, 110]), [0, 0, 10]);
        assert_eq!(times(Clock::Epoch, &[i64::MAX, i64::MIN + 1]), [0, 0]);
    }
}
