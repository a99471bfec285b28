//! Figures as reports print them: `1,234.5`, `12.3K`, `.0`, `<1`, `353.90us`, `1.4E+10`, and `1.234,5` where a
//! report writes decimals with a comma.

use memchr::memrchr2;

const TENS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
];
// Whole numbers up to here are exact in a double.
const EXACT: u64 = 1 << 53;

/// A number and what stands behind it; nothing where the text does not begin with a number.
/// Of `<1` only the bounds are known: the middle, 0.5, is taken.
pub fn figure(text: &str, comma: bool) -> Option<(f64, &str)> {
    let text = text.trim();
    let (text, share) = match text.strip_prefix('<') {
        Some(rest) => (rest.trim_start().trim_start_matches('='), 0.5),
        None => (text.trim_start_matches(['>', '=']), 1.0),
    };
    let (text, sign) = match text.strip_prefix('-') {
        Some(rest) => (rest, -1.0),
        None => (text.strip_prefix('+').unwrap_or(text), 1.0),
    };
    let (number, length) = number(text.as_bytes(), comma)?;
    let (number, length) = exponent(text, number, length);
    Some((sign * share * number, text.get(length..)?.trim_start()))
}

/// The digits at the beginning, and how many bytes they take.
fn number(text: &[u8], comma: bool) -> Option<(f64, usize)> {
    let (point, group) = if comma { (b',', b'.') } else { (b'.', b',') };
    let (mut mantissa, mut digits, mut decimals) = (0u64, 0usize, None::<usize>);
    let mut long = String::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if byte.is_ascii_digit() {
            digits += 1;
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            decimals = decimals.map(|count| count + 1);
        } else if byte == point && decimals.is_none() {
            decimals = Some(0);
        } else if !(digits > 0 && decimals.is_none() && groups(text, at, byte, group)) {
            break;
        }
        at += 1;
    }
    if digits == 0 {
        return None;
    }
    let behind = decimals.unwrap_or(0);
    if digits < TENS.len() && mantissa < EXACT {
        return Some((mantissa as f64 / TENS[behind], at));
    }
    for &byte in &text[..at] {
        if byte.is_ascii_digit() || byte == point {
            long.push(if byte == point { '.' } else { byte as char });
        }
    }
    Some((long.parse().ok()?, at))
}

/// Whether a byte parts groups of three digits: the sign for that, a blank or an apostrophe.
fn groups(text: &[u8], at: usize, byte: u8, group: u8) -> bool {
    let digit = |offset: usize| text.get(at + offset).is_some_and(u8::is_ascii_digit);
    (byte == group || byte == b' ' || byte == b'\'') && digit(1) && digit(2) && digit(3) && !digit(4)
}

/// `1.4E+10`: only with a sign, for `E` alone is a suffix.
fn exponent(text: &str, number: f64, length: usize) -> (f64, usize) {
    let rest = &text.as_bytes()[length..];
    if rest.len() < 3 || !rest[0].eq_ignore_ascii_case(&b'e') || !matches!(rest[1], b'+' | b'-') {
        return (number, length);
    }
    let digits = rest[2..]
        .iter()
        .take(3)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let end = length + 2 + digits;
    match text[length + 1..end].parse::<i32>() {
        Ok(power) => (number * 10f64.powi(power), end),
        Err(_) => (number, length),
    }
}

/// A plain figure; `K`, `M`, `G`, `T`, `P` and `E` stand for powers of `kilo`, perhaps with a `B` for bytes.
pub fn plain(text: &str, comma: bool, kilo: f64) -> Option<f64> {
    let (number, suffix) = figure(text, comma)?;
    let suffix = suffix.trim_end_matches('%');
    Some(number * multiple(suffix.strip_suffix('B').unwrap_or(suffix), kilo)?)
}

fn multiple(suffix: &str, kilo: f64) -> Option<f64> {
    let power = match suffix {
        "" => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "P" => 5,
        "E" => 6,
        _ => return None,
    };
    Some(kilo.powi(power))
}

/// Microseconds in a unit of time as reports write it.
pub fn microseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-3,
        "us" => 1.0,
        "ms" => 1e3,
        "cs" => 1e4,
        "s" | "sec" | "secs" => 1e6,
        "m" | "min" | "mins" => 60e6,
        "h" | "hr" | "hrs" => 3600e6,
        "d" => 86_400e6,
        _ => return None,
    })
}

/// A time in units of `to_us` microseconds; one that does not say its unit is in units of `bare_us`.
pub fn time(text: &str, comma: bool, bare_us: f64, to_us: f64) -> Option<f64> {
    let (number, suffix) = figure(text, comma)?;
    if let Some(multiple) = multiple(suffix, 1e3) {
        return Some(scaled(number * multiple, bare_us, to_us));
    }
    Some(scaled(number, microseconds(suffix)?, to_us))
}

// Dividing by a whole number is exact where multiplying by its inverse is not.
fn scaled(number: f64, from: f64, to: f64) -> f64 {
    if from >= to {
        number * (from / to)
    } else {
        number / (to / from)
    }
}

/// Occurrences that a cell of a histogram stands for: a count in brackets, else a share in per cent of `total`.
/// A share that was rounded to nothing is something, though: one.
pub fn share(text: &str, comma: bool, total: f64) -> Option<i64> {
    let (number, rest) = figure(text, comma)?;
    if let Some(count) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return plain(count, comma, 1e3)
            .map(|count| count as i64)
            .filter(|count| *count > 0);
    }
    let rest = rest.trim_end_matches('%');
    rest.is_empty()
        .then(|| ((number * total / 100.0).round() as i64).max(1))
}

/// Which way a figure speaks for decimals with a comma: 1 for, -1 against, 0 for what both could have written.
pub fn vote(text: &str) -> i32 {
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '.' | ',' | '-')) {
        return 0;
    }
    let Some(last) = memrchr2(b'.', b',', text.as_bytes()) else {
        return 0;
    };
    let digits = |part: &str| part.bytes().take_while(u8::is_ascii_digit).count();
    let (before, behind) = (&text[..last], digits(&text[last + 1..]));
    let (this, other) = if text.as_bytes()[last] == b',' {
        (1, '.')
    } else {
        (-1, ',')
    };
    if before.contains(other) && !before.contains(text.as_bytes()[last] as char) {
        return this;
    }
    let alone = !before.contains(['.', ',']);
    if alone && (behind != 3 || before.is_empty() || before == "0") {
        this
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_they_are_meant() {
        let cases = [
            ("1,234.5", 1234.5),
            ("12.3K", 12_300.0),
            ("1.2M", 1_200_000.0),
            (".0", 0.0),
            ("-.1", -0.1),
            ("<1", 0.5),
            ("1.4E+10", 1.4e10),
            ("154,960,764,286,500", 154_960_764_286_500.0),
            ("18446744073709551615.5", 18_446_744_073_709_551_615.5),
            ("97.3%", 97.3),
        ];
        for (text, value) in cases {
            assert_eq!(plain(text, false, 1e3), Some(value), "{text}");
        }
        for text in ["N/A", "", "-", "####", "8abc", ".", "K", "1.2.3"] {
            assert_eq!(plain(text, false, 1e3), None, "{text}");
        }
        assert_eq!(plain("1.234,5", true, 1e3), Some(1234.5));
        assert_eq!(plain("29.1T", false, 1024.0), Some(29.1 * 1024f64.powi(4)));
    }

    #[test]
    fn a_time_says_its_unit_or_has_that_of_its_column() {
        assert_eq!(time("353.90us", false, 1e3, 1e3), Some(0.3539));
        assert_eq!(time("8.78", false, 1e3, 1e3), Some(8.78));
        assert_eq!(time("321.5K", false, 1e6, 1e6), Some(321_500.0));
        assert_eq!(time("12 ms", false, 1e6, 1e6), Some(0.012));
        assert_eq!(time("7 apples", false, 1e6, 1e6), None);
    }

    #[test]
    fn a_share_is_a_count() {
        assert_eq!(share("12.5", false, 200.0), Some(25));
        assert_eq!(share(".0", false, 200.0), Some(1));
        assert_eq!(share("<0.01(902)", false, 1e9), Some(902));
        assert_eq!(share("0.0(6)", false, 1e9), Some(6));
        assert_eq!(share("0.0(0)", false, 1e9), None);
        assert_eq!(share("", false, 1e9), None);
    }

    #[test]
    fn a_comma_shows_itself() {
        for (text, speaks) in [
            ("1.234,5", 1),
            ("0,5", 1),
            ("1,234.5", -1),
            ("12.50", -1),
            ("1,234", 0),
            ("1.234", 0),
            ("DB,5", 0),
        ] {
            assert_eq!(vote(text), speaks, "{text}");
        }
    }
}
