//! Turns `tim=` of a trace, which counts microseconds of a clock that may be any, into wall-clock time.
//!
//! Where the stamps between the lines agree with it but for a whole number of quarter hours, `tim=` is the wall clock in
//! UTC, and the difference is the zone.

const QUARTER_HOUR_US: i64 = 900_000_000;
/// How far a stamp may be from the time of the line after it.
const SLACK_US: i64 = 5_000_000;
const DAY_US: i64 = 86_400_000_000;
/// 2001: below it `tim=` is no time since 1970.
const EARLIEST_EPOCH_US: i64 = 1_000_000_000_000_000;

#[derive(Default)]
pub struct Clock {
    stamp: Option<(i64, bool)>,
    offset_us: Option<i64>,
    /// No date was there: the clock is taken to begin in 1970.
    pub is_from_1970: bool,
    /// A stamp without a zone was used.
    pub is_zone_assumed: bool,
    /// Microseconds in a unit of `tim=`.
    unit_us: i64,
}

impl Clock {
    pub fn new(unit_us: u32) -> Self {
        Self {
            unit_us: i64::from(unit_us),
            ..Self::default()
        }
    }

    /// The time of day that stands before the next line, and whether its zone is known.
    pub fn stamp(&mut self, wall_us: i64, has_zone: bool) {
        self.stamp = Some((wall_us, has_zone));
    }

    /// Microseconds since 1970.
    pub fn wall_us(&mut self, tim: i64) -> i64 {
        let tim_us = tim.saturating_mul(self.unit_us);
        if let Some((stamp_us, has_zone)) = self.stamp.take() {
            self.offset_us = Some(self.offset(tim_us, stamp_us, has_zone));
        }
        let offset_us = *self.offset_us.get_or_insert_with(|| {
            self.is_from_1970 = tim_us < EARLIEST_EPOCH_US;
            0
        });
        tim_us.saturating_add(offset_us)
    }

    fn offset(&mut self, tim_us: i64, stamp_us: i64, has_zone: bool) -> i64 {
        let offset_us = stamp_us.saturating_sub(tim_us);
        if offset_us.unsigned_abs() < DAY_US.unsigned_abs() && from_quarter_hour(offset_us) < SLACK_US {
            return 0;
        }
        self.is_zone_assumed |= !has_zone;
        // The clocks drift less than stamps are late: an offset is only changed when it is far off.
        match self.offset_us {
            Some(known) if known.abs_diff(offset_us) < SLACK_US.unsigned_abs() => known,
            _ => offset_us,
        }
    }
}

fn from_quarter_hour(offset_us: i64) -> i64 {
    ((offset_us + QUARTER_HOUR_US / 2).rem_euclid(QUARTER_HOUR_US) - QUARTER_HOUR_US / 2).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_in_another_zone_leaves_tim_alone() {
        let mut clock = Clock::new(1);
        clock.stamp(1_717_075_653_100_000, true);
        assert_eq!(clock.wall_us(1_717_068_453_100_000), 1_717_068_453_100_000);
        assert!(!clock.is_zone_assumed && !clock.is_from_1970);
    }

    #[test]
    fn another_clock_is_set_by_the_stamp() {
        let mut clock = Clock::new(1);
        clock.stamp(1_717_068_453_100_000, false);
        assert_eq!(clock.wall_us(5_000_000), 1_717_068_453_100_000);
        assert!(clock.is_zone_assumed);
        clock.stamp(1_717_068_454_200_000, false); // a little late
        assert_eq!(clock.wall_us(6_000_000), 1_717_068_454_100_000);
    }

    #[test]
    fn without_stamps_it_begins_in_1970() {
        let mut clock = Clock::new(1);
        assert_eq!(clock.wall_us(7), 7);
        assert!(clock.is_from_1970);
        assert_eq!(clock.wall_us(i64::MAX), i64::MAX);
    }
}
