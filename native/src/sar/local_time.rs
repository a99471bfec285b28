//! Local times as moments, by what Python knows of their zone and their day; and what had to be assumed.

const DAY_S: i64 = 86_400;
const MINUTE_S: i64 = 60;

/// A change of a zone's distance from UTC, as local clocks see it (seconds since 1970, as if they were UTC).
struct Change {
    /// From here on the new distance holds, if no clock was set back.
    first_s: i64,
    /// The same for times that come again; before a clock was set forward.
    again_s: i64,
    offset_s: i64,
}

pub struct LocalTime {
    /// Nothing where the zone is not known: then UTC is assumed.
    changes: Option<Vec<Change>>,
    /// The latest that a time of day without a date can be, in seconds since 1970.
    latest_s: i64,
    pub is_utc_assumed: bool,
    /// The day (since 1970) that was last given to a time of day without a date.
    pub assumed_day: Option<i64>,
}

impl LocalTime {
    /// `offsets`: since when (seconds since 1970) a zone is how far (seconds) from UTC.
    pub fn new(offsets: Option<&[(i64, i64)]>, latest_s: i64) -> Self {
        let changes = |offsets: &[(i64, i64)]| {
            let before = offsets.iter().take(1).chain(offsets);
            let pairs = before.zip(offsets);
            pairs
                .map(|(before, after)| Change {
                    first_s: after.0 + before.1.max(after.1),
                    again_s: after.0 + before.1.min(after.1),
                    offset_s: after.1,
                })
                .collect()
        };
        Self {
            changes: offsets.map(changes),
            latest_s,
            is_utc_assumed: false,
            assumed_day: None,
        }
    }

    /// The moment (microseconds since 1970) of a local time; `again`: of the hour that comes twice, the later one. One that
    /// no clock showed, as it was set forward, counts from before that.
    pub fn utc_us(&mut self, local_s: i64, again: bool) -> i64 {
        let offset_s = match &self.changes {
            Some(changes) => {
                let begun = |change: &Change| if again { change.again_s } else { change.first_s };
                let passed = changes.partition_point(|change| begun(change) <= local_s);
                changes
                    .get(passed.saturating_sub(1))
                    .map_or(0, |change| change.offset_s)
            }
            None => {
                self.is_utc_assumed = true;
                0
            }
        };
        (local_s - offset_s) * 1_000_000
    }

    /// The day (since 1970) of a first time of day (seconds): the latest that it can be.
    pub fn day(&mut self, second: i64) -> i64 {
        let minute_s = second - second % MINUTE_S;
        *self.assumed_day.insert((self.latest_s - minute_s).div_euclid(DAY_S))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_S: i64 = 3600;

    #[test]
    fn clocks_that_are_set_forward_and_back() {
        // From one hour ahead of UTC to two, at a local time of 100 h, and back again at one of 201 h, then 200 h again.
        let offsets = [(0, HOUR_S), (99 * HOUR_S, 2 * HOUR_S), (199 * HOUR_S, HOUR_S)];
        let mut times = LocalTime::new(Some(&offsets), 0);
        let mut hours = |local: i64, again| times.utc_us(local * HOUR_S + 1, again) / 1_000_000 / HOUR_S;
        assert_eq!(
            [50, 99, 101, 199, 201, 300].map(|local| hours(local, false)),
            [49, 98, 99, 197, 200, 299]
        );
        assert_eq!((hours(200, false), hours(200, true)), (198, 199));
        assert_eq!((hours(100, false), hours(100, true)), (99, 98));
        assert!(!times.is_utc_assumed);
    }

    #[test]
    fn what_is_not_known_is_assumed() {
        let mut times = LocalTime::new(None, 10 * DAY_S + 7_200);
        assert_eq!(times.utc_us(5, false), 5_000_000);
        assert!(times.is_utc_assumed);
        assert_eq!((times.day(7_259), times.day(7_260)), (10, 9));
        assert_eq!(times.assumed_day, Some(9));
    }
}
