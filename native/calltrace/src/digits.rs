//! Bytes looked at eight at a time: on every line stand a time stamp, a name and a result.

use memchr::memrchr;

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The eight bytes at `at`, the first one lowest.
fn word(text: &[u8], at: usize) -> Option<u64> {
    let bytes = text.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each byte of the word that equals `byte`.
fn equal(word: u64, byte: u8) -> u64 {
    const LOW: u64 = ONES * 0x7F;
    let differing = word ^ (ONES * u64::from(byte));
    !(((differing & LOW) + LOW) | differing | LOW)
}

/// Where the first such byte stands, among the first 40: names are so short that calling `memchr` costs more.
#[inline]
pub fn find_near(byte: u8, text: &[u8]) -> Option<usize> {
    const WORDS: usize = 5;
    for at in (0..WORDS * 8).step_by(8) {
        let Some(word) = word(text, at) else {
            return text[at..]
                .iter()
                .position(|&found| found == byte)
                .map(|found| at + found);
        };
        let found = equal(word, byte);
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
    }
    None
}

/// Where the last such byte stands; quick when that is near the end.
#[inline]
pub fn find_last(byte: u8, text: &[u8]) -> Option<usize> {
    let mut end = text.len();
    for _ in 0..2 {
        let Some(start) = end.checked_sub(8) else {
            break;
        };
        let found = equal(word(text, start)?, byte);
        if found != 0 {
            return Some(end - 1 - found.leading_zeros() as usize / 8);
        }
        end = start;
    }
    memrchr(byte, &text[..end])
}

/// Value of eight digits; null when one of them is none.
///
/// Neighbours are joined to two, four and eight digits with three multiplications (D. Lemire, "Quickly parsing eight
/// digits", 2018).
fn eight_digits(word: u64) -> Option<u64> {
    let high = word & 0xF0F0_F0F0_F0F0_F0F0;
    let carried = word.wrapping_add(0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0;
    if high != ZEROS || carried != ZEROS {
        return None;
    }
    let digits = word - ZEROS;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    const EVERY_FOURTH: u64 = 0x0000_00FF_0000_00FF;
    let upper = (pairs & EVERY_FOURTH).wrapping_mul(100 + (1_000_000 << 32));
    let lower = ((pairs >> 16) & EVERY_FOURTH).wrapping_mul(1 + (10_000 << 32));
    Some(upper.wrapping_add(lower) >> 32)
}

/// Nanoseconds of `1795213146.359323`: ten digits, a point, six digits.
#[inline]
pub fn epoch_ns(text: &[u8], at: usize) -> Option<i64> {
    let (first, last) = (word(text, at)?, word(text, at + 9)?);
    if text[at + 10] != b'.' {
        return None;
    }
    let middle = u64::from(text[at + 8]) | u64::from(text[at + 9]) << 8;
    let micros = eight_digits(first)? * 100_000_000 + eight_digits(last & !0xFFFF | middle)?;
    Some((micros * 1000) as i64)
}

/// Nanoseconds of `0.000009`: one digit, a point, six digits.
pub fn short_ns(text: &[u8], at: usize) -> Option<i64> {
    let word = word(text, at)?;
    if word >> 8 & 0xFF != u64::from(b'.') {
        return None;
    }
    let digits = word & !0xFFFF | (word & 0xFF) << 8 | u64::from(b'0');
    Some((eight_digits(digits)? * 1000) as i64)
}

/// Nanoseconds of a number of seconds with up to nine decimals; null when it is none, or out of range.
pub fn seconds_ns(text: &[u8]) -> Option<i64> {
    let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
    let (whole, decimals) = (&text[..point], text.get(point + 1..).unwrap_or_default());
    if decimals.len() > 9 {
        return None;
    }
    let scale = 10_i64.pow(9 - decimals.len() as u32);
    let rest = if decimals.is_empty() { 0 } else { decimal(decimals)? };
    decimal(whole)?.checked_mul(1_000_000_000)?.checked_add(rest * scale)
}

/// A number without a sign; null when it is none, or out of range.
pub fn decimal(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter().try_fold(0, |value: i64, &byte| {
        byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
    })
}

/// How many digits stand at the beginning.
pub fn count(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_near_the_beginning() {
        let text: Vec<u8> = (0..60).collect();
        for byte in 0..40 {
            assert_eq!(find_near(byte, &text), Some(byte.into()));
            assert_eq!(find_near(byte, &text[..usize::from(byte)]), None);
        }
        assert_eq!(find_near(40, &text), None);
        assert_eq!(find_near(b'(', b"(((((((((("), Some(0));
    }

    #[test]
    fn the_last_of_several_bytes_is_found() {
        for len in 0..40 {
            let mut text = vec![b'<'; len];
            assert_eq!(find_last(b'=', &text), None);
            for at in 0..len {
                text[at] = b'=';
                assert_eq!(find_last(b'=', &text), Some(at));
            }
        }
    }

    #[test]
    fn fixed_forms_are_read() {
        assert_eq!(epoch_ns(b"1795213146.359323 r", 0), Some(1_795_213_146_359_323_000));
        assert_eq!(short_ns(b"<0.000009>", 1), Some(9_000));
        assert_eq!(short_ns(b"9.999999", 0), Some(9_999_999_000));
    }

    #[test]
    fn other_forms_are_refused() {
        assert_eq!(epoch_ns(b"1795213146.35932", 0), None);
        assert_eq!(epoch_ns(b"179521314:.359323", 0), None);
        assert_eq!(epoch_ns(b"1795213146,359323", 0), None);
        assert_eq!(short_ns(b"10.00009", 0), None);
        assert_eq!(short_ns(b"/.000009", 0), None);
    }

    #[test]
    fn seconds_have_up_to_nine_decimals() {
        assert_eq!(seconds_ns(b"12"), Some(12_000_000_000));
        assert_eq!(seconds_ns(b"0.123"), Some(123_000_000));
        assert_eq!(seconds_ns(b"1.000000001"), Some(1_000_000_001));
        assert_eq!(seconds_ns(b"1.0000000001"), None);
        assert_eq!(seconds_ns(b"1000000000000.0"), None);
        assert_eq!(seconds_ns(b"-1.0"), None);
        assert_eq!(seconds_ns(b"."), None);
    }
}
