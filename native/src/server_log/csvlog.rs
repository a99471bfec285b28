//! PostgreSQL's csvlog, versions 9.0 to 18: newer columns stand behind those that are read.

use std::borrow::Cow;

use super::entry::{Entry, Severity};
use super::lines::Part;
use super::messages;
use super::moment;

const TIME: usize = 0;
const USER: usize = 1;
const DATABASE: usize = 2;
const CLIENT: usize = 4;
const SEVERITY: usize = 11;
const SQLSTATE: usize = 12;
const MESSAGE: usize = 13;
const DETAIL: usize = 14;
const CONTEXT: usize = 18;
const STATEMENT: usize = 19;
/// From version 9.0 on.
const APPLICATION: usize = 22;
/// Columns of version 8.3, the least that there ever were.
const FEWEST: usize = 22;
const KEPT: usize = APPLICATION + 1;

/// Whether a line begins with a time and a comma.
pub fn is_start(line: &[u8]) -> bool {
    moment::clock(line).is_some_and(|(_, length)| memchr::memchr(b',', &line[length..]).is_some_and(|at| at < 10))
}

/// Reads whole messages.
pub fn read(bytes: &[u8], part: &mut Part) {
    let mut at = 0;
    while at < bytes.len() {
        let mut fields: [Cow<[u8]>; KEPT] = [const { Cow::Borrowed(&[]) }; KEPT];
        match record(&bytes[at..], &mut fields) {
            Some((count, length)) => {
                let line = &bytes[at..at + length];
                at += length;
                part.lines += 1;
                if count >= FEWEST {
                    take(&fields, part);
                } else if !line.trim_ascii().is_empty() {
                    part.skip("not a line of a csvlog");
                }
                part.lines += memchr::memchr_iter(b'\n', line).count().saturating_sub(1) as u64;
            }
            // A quote that is never closed: on with the next line that begins a message.
            None => {
                part.lines += 1;
                part.skip("a message that does not end");
                at += memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len() - at, |end| end + 1);
            }
        }
    }
}

/// Splits one record; how many fields it has, and its length with the line end.
fn record<'a>(bytes: &'a [u8], fields: &mut [Cow<'a, [u8]>; KEPT]) -> Option<(usize, usize)> {
    let mut at = 0;
    for number in 0.. {
        let (value, length) = field(&bytes[at..])?;
        if let Some(kept) = fields.get_mut(number) {
            *kept = value;
        }
        at += length;
        match bytes.get(at) {
            Some(b',') => at += 1,
            Some(b'\r') if bytes.get(at + 1) == Some(&b'\n') => return Some((number + 1, at + 2)),
            Some(b'\n') => return Some((number + 1, at + 1)),
            None => return Some((number + 1, at)),
            Some(_) => return None,
        }
    }
    None
}

/// One field, and its length.
fn field(bytes: &[u8]) -> Option<(Cow<'_, [u8]>, usize)> {
    if bytes.first() != Some(&b'"') {
        let end = memchr::memchr2(b',', b'\n', bytes).unwrap_or(bytes.len());
        let end = if end > 0 && bytes[end - 1] == b'\r' {
            end - 1
        } else {
            end
        };
        return Some((Cow::Borrowed(&bytes[..end]), end));
    }
    let mut at = 1;
    let mut doubled = false;
    loop {
        at += memchr::memchr(b'"', &bytes[at..])?;
        if bytes.get(at + 1) != Some(&b'"') {
            break;
        }
        doubled = true;
        at += 2;
    }
    let value = &bytes[1..at];
    Some((
        if doubled {
            Cow::Owned(undoubled(value))
        } else {
            Cow::Borrowed(value)
        },
        at + 1,
    ))
}

fn undoubled(value: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(value.len());
    let mut quote = false;
    for byte in value {
        quote = *byte == b'"' && !quote;
        if !quote {
            plain.push(*byte);
        }
    }
    plain
}

fn take(fields: &[Cow<[u8]>; KEPT], part: &mut Part) {
    let Some((moment, _)) = moment::at_begin(&fields[TIME], &mut part.tally.zones) else {
        return part.skip("no time in it");
    };
    let Some(severity) = Severity::of_any(&fields[SEVERITY]) else {
        return part.skip("a severity that is not known");
    };
    let entry = Entry {
        sqlstate: &fields[SQLSTATE],
        database: &fields[DATABASE],
        user: &fields[USER],
        application: &fields[APPLICATION],
        client: without_port(&fields[CLIENT]),
        message: &fields[MESSAGE],
        detail: &fields[DETAIL],
        context: &fields[CONTEXT],
        statement: &fields[STATEMENT],
        ..Entry::new(moment, severity)
    };
    messages::take(&entry, part);
}

/// A client's address without its port, which stands behind a colon: `10.0.0.5:4321`, `fe80::1:4321`, `[local]`.
fn without_port(client: &[u8]) -> &[u8] {
    match memchr::memrchr(b':', client) {
        Some(colon) if client[colon + 1..].iter().all(u8::is_ascii_digit) => &client[..colon],
        _ => client,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_its_port_behind_a_colon() {
        for (client, left) in [
            ("10.0.0.5:4321", "10.0.0.5"),
            ("fe80::1:4321", "fe80::1"),
            ("[local]", "[local]"),
            ("", ""),
        ] {
            assert_eq!(without_port(client.as_bytes()), left.as_bytes());
        }
    }

    #[test]
    fn quotes_and_line_ends_are_part_of_a_field() {
        let mut fields: [Cow<[u8]>; KEPT] = [const { Cow::Borrowed(&[]) }; KEPT];
        let text = b"a,\"b \"\"c\"\"\nd\",,e\r\nnext";
        let (count, length) = record(text, &mut fields).unwrap();
        assert_eq!((count, length), (4, text.len() - 4));
        assert_eq!(&fields[1][..], b"b \"c\"\nd");
        assert_eq!(&fields[3][..], b"e");
        assert!(record(b"a,\"b", &mut fields).is_none());
        assert_eq!(undoubled(b"\"\"\"\""), b"\"\"");
    }
}
