//! Times of day at the beginning of lines, and the days that they lack.

use std::collections::HashMap;

use super::local_time::LocalTime;

const DAY_S: i64 = 86_400;
/// A clock that goes back by no more than this was set back (an hour in autumn); otherwise the next day has begun.
const SET_BACK_S: i64 = 3_900;

/// The second of the day that a line begins with, and what follows it. Hours may be of 12 (AM, PM) or 24, with colons,
/// points, or the signs of Chinese, Japanese and Korean between.
pub fn time_of_day(line: &str) -> Option<(i64, &str)> {
    let (hour, rest) = digits(line)?;
    let (minute, rest) = digits(between(rest, &[":", ".", "時", "时", "시 "])?)?;
    let (second, rest) = digits(between(rest, &[":", ".", "分", "분 "])?)?;
    let rest = rest.strip_prefix(['秒', '초']).unwrap_or(rest);
    let (hour, rest) = of_24(hour, rest)?;
    let ends = rest.is_empty() || rest.starts_with([' ', '\t']);
    (ends && hour < 24 && minute < 60 && second < 61).then_some((hour * 3600 + minute * 60 + second, rest))
}

fn digits(text: &str) -> Option<(i64, &str)> {
    let end = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn between<'a>(text: &'a str, separators: &[&str]) -> Option<&'a str> {
    separators.iter().find_map(|separator| text.strip_prefix(separator))
}

fn of_24(hour: i64, rest: &str) -> Option<(i64, &str)> {
    let (half, after) = match rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']) {
        half if half.starts_with("AM") || half.starts_with("am") => (0, &half[2..]),
        half if half.starts_with("PM") || half.starts_with("pm") => (12, &half[2..]),
        _ => return Some((hour, rest)),
    };
    if !after.is_empty() && !after.starts_with([' ', '\t']) {
        return Some((hour, rest)); // a device that is called so
    }
    (1..=12).contains(&hour).then_some((hour % 12 + half, after))
}

/// Where the lines under a heading have got to.
#[derive(Clone, Copy)]
struct Reached {
    days: i64,
    second: i64,
    again: bool,
}

/// Gives times of day their moments.
pub struct Clock {
    day: Option<i64>,
    /// By heading: the times under another begin anew.
    reached: HashMap<usize, Reached>,
    heading: usize,
    now: Option<(i64, Option<f64>)>,
}

impl Clock {
    pub fn new() -> Self {
        Self {
            day: None,
            reached: HashMap::new(),
            heading: 0,
            now: None,
        }
    }

    /// A header: its day, where it told one; what follows begins anew.
    pub fn begin(&mut self, day: Option<i64>) {
        *self = Self { day, ..Self::new() };
    }

    /// A heading, with the time from which the first interval under it counts.
    pub fn heading(&mut self, heading: usize, second: i64, times: &mut LocalTime) {
        self.heading = heading;
        let known = self.reached.get(&heading).filter(|reached| second >= reached.second);
        let reached = Reached {
            second,
            ..known.copied().unwrap_or(Reached {
                days: 0,
                second,
                again: false,
            })
        };
        self.now = Some((self.place(reached, times), None));
        self.reached.insert(heading, reached);
    }

    /// A time under the heading: its moment in microseconds, and the seconds since the one before.
    pub fn at(&mut self, second: i64, times: &mut LocalTime) -> (i64, Option<f64>) {
        let before = self.reached.get(&self.heading).copied();
        if let (Some(now), Some(before)) = (self.now, before)
            && before.second == second
        {
            return now;
        }
        let mut reached = before.unwrap_or(Reached {
            days: 0,
            second,
            again: false,
        });
        if second < reached.second {
            reached.again = reached.second - second <= SET_BACK_S;
            reached.days += i64::from(!reached.again);
        }
        reached.second = second;
        let ts_us = self.place(reached, times);
        let since = self.now.map(|(before_us, _)| ts_us - before_us);
        let now = (ts_us, since.filter(|&us| us > 0).map(|us| us as f64 / 1e6));
        self.reached.insert(self.heading, reached);
        self.now = Some(now);
        now
    }

    fn place(&mut self, reached: Reached, times: &mut LocalTime) -> i64 {
        let day = *self.day.get_or_insert_with(|| times.day(reached.second));
        times.utc_us((day + reached.days) * DAY_S + reached.second, reached.again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_places() {
        assert_eq!(time_of_day("09:10:01  all"), Some((33001, "  all")));
        assert_eq!(time_of_day("12:00:01 AM all"), Some((1, " all")));
        assert_eq!(time_of_day("12:00:01 PM"), Some((43201, "")));
        assert_eq!(time_of_day("9:10:01 pm\tall"), Some((76201, "\tall")));
        assert_eq!(time_of_day("09.10.01 all"), Some((33001, " all")));
        assert_eq!(time_of_day("09時10分01秒 all"), Some((33001, " all")));
        assert_eq!(time_of_day("09시 10분 01초 all"), Some((33001, " all")));
        assert_eq!(time_of_day("23:59:60"), Some((86400, "")));
    }

    #[test]
    fn what_is_no_time() {
        for line in [
            "",
            "Average:",
            "1.5 2",
            "24:00:00 x",
            "13:00:00 AM",
            "12:61:00",
            "09:10",
            "09:10:011",
            "1:2:3x",
        ] {
            assert_eq!(time_of_day(line), None, "{line}");
        }
        assert_eq!(time_of_day("09:10:01 AMD 1"), Some((33001, " AMD 1")));
    }
}
