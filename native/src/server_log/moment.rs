//! Moments as logs write them: `2026-11-20 22:44:50.934 UTC`, ISO 8601, seconds since 1970, syslog's without a year.

use rustc_hash::FxHashMap;

const DAY_US: i64 = 86_400_000_000;
/// Length of syslog's times without a year.
pub const SYSLOG_TIME: usize = 15;
const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";

/// A moment by the clock on the wall: microseconds since 1970 there, and which zone that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    pub local_us: i64,
    pub zone: u16,
}

impl Moment {
    /// Of every line of a log that tells no times.
    pub const UNTOLD: Self = Self { local_us: 0, zone: 0 };
}

/// The zones that a log names. Number 0 is UTC.
pub struct Zones {
    names: Vec<String>,
    numbers: FxHashMap<Vec<u8>, u16>,
}

impl Default for Zones {
    fn default() -> Self {
        Self {
            names: vec!["UTC".to_string()],
            numbers: FxHashMap::from_iter([(b"UTC".to_vec(), 0)]),
        }
    }
}

impl Zones {
    pub fn number(&mut self, name: &[u8]) -> u16 {
        if name == b"UTC" || self.names.len() > usize::from(u16::MAX - 1) {
            return 0;
        }
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u16;
        self.names.push(String::from_utf8_lossy(name).into_owned());
        self.numbers.insert(name.to_vec(), number);
        number
    }

    pub fn name(&self, number: u16) -> &str {
        &self.names[usize::from(number)]
    }
}

/// A moment at the beginning of a text, and the length of what says it.
pub fn at_begin(text: &[u8], zones: &mut Zones) -> Option<(Moment, usize)> {
    let (local_us, length) = clock(text)?;
    let rest = &text[length..];
    let spaces = usize::from(rest.first() == Some(&b' '));
    let zone = zone_length(&rest[spaces..]);
    if zone == 0 {
        let number = zones.number(b"");
        return Some((Moment { local_us, zone: number }, length));
    }
    let name = &rest[spaces..spaces + zone];
    let number = zones.number(if name == b"Z" { b"UTC" } else { name });
    Some((Moment { local_us, zone: number }, length + spaces + zone))
}

/// Date and time of day, with `-` or `/` and a space or a `T`; microseconds, and the length.
pub fn clock(text: &[u8]) -> Option<(i64, usize)> {
    if text.len() < 19 || !matches!(text[10], b' ' | b'T') || text[13] != b':' || text[16] != b':' {
        return None;
    }
    if text[4] != text[7] || !matches!(text[4], b'-' | b'/') {
        return None;
    }
    let day = day_number(number(&text[..4])?, number(&text[5..7])?, number(&text[8..10])?)?;
    let (hour, minute, second) = (number(&text[11..13])?, number(&text[14..16])?, number(&text[17..19])?);
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let (part_us, length) = fraction(&text[19..]);
    Some((
        day * DAY_US + (hour * 3600 + minute * 60 + second) * 1_000_000 + part_us,
        19 + length,
    ))
}

/// Seconds since 1970 with milliseconds (`%n`), and the length.
pub fn epoch(text: &[u8]) -> Option<(i64, usize)> {
    let seconds = number(text.get(..10)?)?;
    if text.get(10) != Some(&b'.') || seconds < 1_000_000_000 {
        return None;
    }
    let (part_us, length) = fraction(&text[10..]);
    Some((seconds * 1_000_000 + part_us, 10 + length))
}

/// Syslog's `Nov 20 22:44:50` with a year before it; null where it is no such time. `latest` is a year and a month that
/// nothing is later than.
pub fn with_year(text: &[u8], latest: (i64, i64)) -> Option<String> {
    let text = text.get(..SYSLOG_TIME)?;
    if text[3] != b' ' || text[6] != b' ' || text[9] != b':' || text[12] != b':' {
        return None;
    }
    let month = MONTHS.chunks(3).position(|name| name == &text[..3])? as i64 + 1;
    let day = number(if text[4] == b' ' { &text[5..6] } else { &text[4..6] })?;
    let year = if month > latest.1 { latest.0 - 1 } else { latest.0 };
    let time = str::from_utf8(&text[7..]).ok()?;
    Some(format!("{year:04}-{month:02}-{day:02} {time}"))
}

/// Days since 1970 (H. Hinnant, "chrono-compatible low-level date algorithms", 2013).
pub fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// A whole number that fills the text; 18 digits at most.
pub fn number(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 18 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// Microseconds of `.934` or `,934`, and the length; nothing where there is no fraction.
fn fraction(text: &[u8]) -> (i64, usize) {
    if !matches!(text.first(), Some(b'.' | b',')) {
        return (0, 0);
    }
    let digits = text[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return (0, 0);
    }
    let kept = digits.min(6);
    let scale = 10_i64.pow(6 - kept as u32);
    (number(&text[1..=kept]).unwrap_or(0) * scale, 1 + digits)
}

/// Length of `UTC`, `CEST`, `Z`, `+02`, `-0330`, `+02:00` at the beginning; 0 where there is none.
fn zone_length(text: &[u8]) -> usize {
    let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    match text.first() {
        Some(b'+' | b'-') if digit(1) && digit(2) => {
            if digit(3) && digit(4) {
                5
            } else if text.get(3) == Some(&b':') && digit(4) && digit(5) && !digit(6) {
                6
            } else {
                3
            }
        }
        Some(first) if first.is_ascii_uppercase() => {
            let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let is_word = text[..letters].iter().all(u8::is_ascii_uppercase);
            if letters <= 5 && is_word && text.get(letters) != Some(&b'=') {
                letters
            } else {
                0
            }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_says_its_zone() {
        let mut zones = Zones::default();
        let (moment, length) = at_begin(b"2026-11-20 22:44:50.934 CET [1] LOG:", &mut zones).unwrap();
        assert_eq!((moment.local_us, length), (1_795_214_690_934_000, 27));
        assert_eq!(zones.name(moment.zone), "CET");
        for (text, zone) in [
            (&b"2026-11-20 22:44:50 UTC:[local]"[..], "UTC"),
            (b"2026-11-20T22:44:50.9+05:30 host", "+05:30"),
            (b"2026-11-20 22:44:50 -03 x", "-03"),
            (b"2026-11-20T22:44:50.123456Z 8", "UTC"),
            (b"2026-11-20 22:44:50 [1]", ""),
        ] {
            let (moment, _) = at_begin(text, &mut zones).unwrap();
            assert_eq!(zones.name(moment.zone), zone);
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            &b"2026-13-20 22:44:50"[..],
            b"2026-11-20 22:44",
            b"",
            b"2026-11-20 99:44:50 UTC",
        ] {
            assert!(clock(text).is_none());
        }
        assert_eq!(epoch(b"1795214690.934 [1]"), Some((1_795_214_690_934_000, 14)));
        assert_eq!(
            with_year(b"Nov  2 01:02:03 h", (2026, 11)).unwrap(),
            "2026-11-02 01:02:03"
        );
        assert_eq!(
            with_year(b"Dec 31 01:02:03 h", (2026, 11)).unwrap(),
            "2025-12-31 01:02:03"
        );
        assert!(with_year(b"Foo 20 01:02:03 h", (2026, 1)).is_none());
    }
}
