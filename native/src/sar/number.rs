//! Figures as sar prints them, in any locale and with or without `--human`.

/// A figure: its value, and of what unit it says itself to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Printed {
    Plain(f64),
    /// A size of `--human`, in bytes (22.8G).
    Bytes(f64),
    /// `N/A`, `nan`: nothing was measured.
    Nothing,
}

/// The figure that a word is; nothing when it is none. Of `63/30000` (used and most) it is the first.
///
/// Longer than 15 digits is left to the standard library; all else is exact: a whole number below 2^53 divided by a power
/// of ten below 10^22 rounds once (W. D. Clinger, How to Read Floating Point Numbers Accurately, 1990).
pub fn figure(word: &[u8]) -> Option<Printed> {
    let unsigned = word.strip_prefix(b"-").unwrap_or(word);
    let sign = if unsigned.len() < word.len() { -1.0 } else { 1.0 };
    let (mut whole, mut digits, mut decimals) = (0u64, 0, None);
    let mut end = 0;
    for &byte in unsigned {
        match byte {
            b'0'..=b'9' => {
                whole = whole.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                digits += 1;
            }
            b'.' | b',' if decimals.is_none() && digits > 0 => decimals = Some(digits),
            _ => break,
        }
        end += 1;
    }
    if digits == 0 {
        return nothing(unsigned);
    }
    let value = sign
        * if digits <= 15 {
            whole as f64 / POWERS_OF_TEN[decimals.map_or(0, |point| digits - point)]
        } else {
            std::str::from_utf8(&unsigned[..end])
                .ok()?
                .replace(',', ".")
                .parse()
                .ok()?
        };
    suffixed(value, &unsigned[end..])
}

/// The value of a word in the unit of its column, which is of so many bytes; NaN where nothing was measured (`-` of AIX).
pub fn value(word: &[u8], bytes: f64) -> Option<f64> {
    if word == b"-" {
        return Some(f64::NAN);
    }
    match figure(word)? {
        Printed::Plain(value) => Some(value),
        Printed::Bytes(value) => Some(value / bytes),
        Printed::Nothing => Some(f64::NAN),
    }
}

const POWERS_OF_TEN: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

fn suffixed(value: f64, suffix: &[u8]) -> Option<Printed> {
    let bytes = |power: i32| Some(Printed::Bytes(value * 1024f64.powi(power)));
    match suffix {
        b"" | b"%" => Some(Printed::Plain(value)),
        b"B" => bytes(0),
        b"k" => bytes(1),
        b"M" => bytes(2),
        b"G" => bytes(3),
        b"T" => bytes(4),
        b"P" => bytes(5),
        b"s" => Some(Printed::Bytes(value * 512.0)),
        [b'/', most @ ..] if !most.is_empty() && most.iter().all(u8::is_ascii_digit) => Some(Printed::Plain(value)),
        _ => None,
    }
}

fn nothing(word: &[u8]) -> Option<Printed> {
    let known = ["n/a", "nan", "inf", "infinity"];
    let word = std::str::from_utf8(word).ok()?;
    known
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
        .then_some(Printed::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_all_kinds() {
        assert_eq!(figure(b"12.34"), Some(Printed::Plain(12.34)));
        assert_eq!(figure(b"12,34"), Some(Printed::Plain(12.34)));
        assert_eq!(figure(b"-0.50"), Some(Printed::Plain(-0.5)));
        assert_eq!(figure(b"63/30000"), Some(Printed::Plain(63.0)));
        assert_eq!(figure(b"22.8G"), Some(Printed::Bytes(22.8 * 1024f64.powi(3))));
        assert_eq!(figure(b"3.5%"), Some(Printed::Plain(3.5)));
        assert_eq!(figure(b"N/A"), Some(Printed::Nothing));
        assert_eq!(figure(b"-nan"), Some(Printed::Nothing));
        assert_eq!(
            figure(b"18446744073709551615"),
            Some(Printed::Plain(18446744073709551615.0))
        );
    }

    #[test]
    fn what_is_no_figure() {
        for word in [
            &b""[..],
            b"-",
            b"all",
            b"sda",
            b"%usr",
            b"0a",
            b".5",
            b"1.2.3",
            b"1/",
            b"dev8-0",
        ] {
            assert_eq!(figure(word), None, "{word:?}");
        }
    }
}
