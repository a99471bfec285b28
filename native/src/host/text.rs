//! Reading the kernel's text: lines, fields and whole numbers, without allocation.

/// Lines of a text, without their ends. An unfinished last line counts as a line.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

/// Fields of a line that blanks separate.
pub fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b' ' || byte == b'\t')
        .filter(|field| !field.is_empty())
}

/// A whole number that starts the field; nothing when no digit does, or when it exceeds 64 bits.
pub fn number(field: &[u8]) -> Option<u64> {
    let digits = field.iter().take_while(|byte| byte.is_ascii_digit());
    let mut value = None;
    for digit in digits {
        let shifted = value.unwrap_or(0u64).checked_mul(10)?;
        value = Some(shifted.checked_add(u64::from(digit - b'0'))?);
    }
    value
}

/// The numbers of a line, into an array; what is missing or no number stays nothing.
pub fn numbers<const N: usize>(line: &[u8]) -> [Option<u64>; N] {
    let mut values = [None; N];
    for (value, field) in values.iter_mut().zip(fields(line)) {
        *value = number(field);
    }
    values
}

/// The number after `key` in the line that starts with it, as in `MemFree:   12 kB`, `pgfault 3` and `total=7`.
pub fn value(text: &[u8], key: &[u8]) -> Option<u64> {
    lines(text).find_map(|line| {
        let rest = line.strip_prefix(key)?;
        let digits = rest.iter().position(|byte| !b" \t:=".contains(byte))?;
        // Without a separator the key is only the beginning of a longer one.
        if digits == 0 { None } else { number(&rest[digits..]) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_bounded() {
        assert_eq!(number(b"42kB"), Some(42));
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(number(b"18446744073709551616"), None);
        assert_eq!(number(b"-1"), None);
        assert_eq!(number(b""), None);
    }

    #[test]
    fn a_key_is_a_whole_word() {
        let text = b"MemFreeMore: 7 kB\nMemFree:   12 kB\npgfault 3\n";
        assert_eq!(value(text, b"MemFree"), Some(12));
        assert_eq!(value(text, b"pgfault"), Some(3));
        assert_eq!(value(text, b"pgmajfault"), None);
        assert_eq!(value(b"total=7", b"total"), Some(7));
    }

    #[test]
    fn a_short_line_leaves_the_rest_unknown() {
        assert_eq!(numbers::<3>(b"1 x"), [Some(1), None, None]);
    }
}
