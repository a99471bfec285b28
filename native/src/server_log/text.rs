//! Small pieces of texts, found by what stands before them.

use memchr::memmem;

/// What follows a mark.
pub fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    memmem::find(text, mark).map(|at| &text[at + mark.len()..])
}

/// What stands before a sign; all where it is not there.
pub fn until(text: &[u8], sign: u8) -> &[u8] {
    &text[..memchr::memchr(sign, text).unwrap_or(text.len())]
}

/// What stands between two marks.
pub fn between<'a>(text: &'a [u8], begin: &[u8], end: &[u8]) -> Option<&'a [u8]> {
    let rest = after(text, begin)?;
    memmem::find(rest, end).map(|at| &rest[..at])
}

/// The whole number at the beginning.
pub fn digits(text: &[u8]) -> Option<i64> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    super::moment::number(&text[..length])
}

/// The decimal number at the beginning, in thousandths: 1.5 is 1500.
pub fn thousandths(text: &[u8]) -> Option<i64> {
    decimal(text, 3)
}

/// The decimal number at the beginning, in millionths.
pub fn millionths(text: &[u8]) -> Option<i64> {
    decimal(text, 6)
}

fn decimal(text: &[u8], places: usize) -> Option<i64> {
    let whole = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut value = super::moment::number(&text[..whole])?;
    let fraction = text
        .get(whole)
        .filter(|sign| **sign == b'.')
        .map_or(&b""[..], |_| &text[whole + 1..]);
    for place in 0..places {
        let digit = fraction
            .get(place)
            .filter(|digit| digit.is_ascii_digit() && fraction[..place].iter().all(u8::is_ascii_digit));
        value = value
            .checked_mul(10)?
            .checked_add(digit.map_or(0, |digit| i64::from(digit - b'0')))?;
    }
    Some(value)
}

/// The whole number before a mark, as in `3 removed`.
pub fn number_before(text: &[u8], mark: &[u8]) -> Option<i64> {
    let before = &text[..memmem::find(text, mark)?];
    let length = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    super::moment::number(&before[before.len() - length..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_beside_their_marks() {
        assert_eq!(number_before(b"pages: 3 removed, 12 remain", b" remain"), Some(12));
        assert_eq!(number_before(b" remain", b" remain"), None);
        assert_eq!(thousandths(b"0.841 ms"), Some(841));
        assert_eq!(thousandths(b"12 ms"), Some(12_000));
        assert_eq!(millionths(b"1.5 s"), Some(1_500_000));
        assert_eq!(millionths(b"1.0000005"), Some(1_000_000));
        assert_eq!(thousandths(b"99999999999999999999"), None);
        assert_eq!(between(b"a \"b\" c", b"\"", b"\""), Some(&b"b"[..]));
        assert_eq!(until(b"abc", b' '), b"abc");
    }
}
