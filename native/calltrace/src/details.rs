//! What a call's arguments say: descriptor, size, position, and what makes two calls the same call.

use std::hash::Hasher;

use memchr::{memchr, memchr2, memchr2_iter};
use rustc_hash::FxHasher;

use crate::digits;
use crate::event::{Event, Kind, NO_NUMBER, Span};
use crate::names::{self, Class, UNKNOWN};

/// Fill in `fd`, `target`, `size`, `offset` and `site` of a call from its name and arguments.
pub fn fill(event: &mut Event, chunk: &[u8]) {
    let class = names::class(event.call);
    let arguments = event.arguments.of(chunk);
    if event.kind == Kind::Resumed {
        // Descriptor and site stand at its start; what a read or write was about may stand here.
        if class.moves_data() || class == Class::Seek {
            (event.size, event.offset) = extent(class, event.name.of(chunk), arguments);
        }
        return;
    }
    if class.has_descriptor() {
        descriptor(event, arguments);
    } else if class == Class::Poll {
        event.fd = leading_number(arguments).map_or(-1, |(fd, _)| fd as i32);
    }
    if class.moves_data() || class == Class::Seek {
        (event.size, event.offset) = extent(class, event.name.of(chunk), arguments);
    }
    event.site = site(event, class, chunk);
}

fn descriptor(event: &mut Event, arguments: &[u8]) {
    let Some((fd, digits)) = leading_number(arguments) else {
        return;
    };
    event.fd = i32::try_from(fd).unwrap_or(-1);
    if arguments.get(digits) == Some(&b'<') {
        let end = target_end(&arguments[digits..]).unwrap_or(0);
        let start = event.arguments.start as usize + digits + 1;
        event.target = Span::new(start, start + end.saturating_sub(1));
    }
}

/// Where the `>` of `<...>` stands: a socket's own arrow `->` does not end it, nor does what stands within another pair,
/// as in `</dev/null<char 1:3>>`.
fn target_end(text: &[u8]) -> Option<usize> {
    let mut depth = 0;
    for at in memchr2_iter(b'<', b'>', text) {
        match text[at] {
            b'<' => depth += 1,
            _ if at > 0 && text[at - 1] == b'-' => {}
            _ if depth == 1 => return Some(at),
            _ => depth -= 1,
        }
    }
    None
}

fn leading_number(text: &[u8]) -> Option<(i64, usize)> {
    let digits = text.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
    let ends = matches!(text.get(digits), None | Some(b',' | b'<' | b')' | b' '));
    (digits > 0 && ends).then(|| (digits::decimal(&text[..digits]).unwrap_or(-1), digits))
}

/// A number as the tracers print it: decimal, or hexadecimal after `0x`; null when it is none, or out of range.
pub fn number(text: &[u8]) -> Option<i64> {
    let (negative, digits) = text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest));
    let (radix, digits) = digits.strip_prefix(b"0x").map_or((10, digits), |hex| (16, hex));
    if digits.is_empty() || digits.len() > 20 {
        return None;
    }
    let mut value: u64 = 0;
    for &byte in digits {
        let digit = (byte as char).to_digit(radix)?;
        value = value.checked_mul(u64::from(radix))?.checked_add(u64::from(digit))?;
    }
    // Addresses use all 64 bits; they only serve to be compared.
    let value = if radix == 16 {
        value as i64
    } else {
        i64::try_from(value).ok()?
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

/// Size and position that a call names: its last arguments, which are plain numbers whatever stands before them.
fn extent(class: Class, name: &[u8], arguments: &[u8]) -> (i64, i64) {
    if arguments.is_empty() {
        return (NO_NUMBER, NO_NUMBER);
    }
    let last = |nth| from_end(arguments, nth).unwrap_or(NO_NUMBER);
    match class {
        Class::ReadAt | Class::WriteAt => (last(1), last(0)),
        // recvfrom(fd, buffer, size, flags, address, length), sendto likewise
        _ if name.ends_with(b"recvfrom") || name.ends_with(b"sendto") => (last(3), NO_NUMBER),
        _ if matches!(name, b"recv" | b"send") => (last(1), NO_NUMBER),
        Class::Read | Class::Write => (last(0), NO_NUMBER),
        Class::Seek => (NO_NUMBER, last(1)),
        _ => (NO_NUMBER, NO_NUMBER),
    }
}

/// The number that is the nth argument from the end.
fn from_end(arguments: &[u8], nth: usize) -> Option<i64> {
    let mut rest = arguments;
    for _ in 0..nth {
        rest = &rest[..digits::find_last(b',', rest)?];
    }
    let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, digits) = rest.split_at(rest.len() - digits);
    match before.last() {
        None | Some(b' ' | b',') if !digits.is_empty() => digits::decimal(digits),
        _ => {
            let start = digits::find_last(b',', rest).map_or(0, |comma| comma + 1);
            number(rest[start..].trim_ascii())
        }
    }
}

/// The hash under which a call counts as the same when it comes again: its name, and of its arguments those that say
/// what it is about. Contents of buffers, addresses and positions differ from call to call, and are left out.
fn site(event: &Event, class: Class, chunk: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    match event.call {
        UNKNOWN => hasher.write(event.name.of(chunk)),
        call => hasher.write_u16(call),
    }
    let arguments = event.arguments.of(chunk);
    match class {
        _ if class.has_descriptor() && event.fd >= 0 => hasher.write_u32(event.fd as u32),
        Class::Open | Class::Path | Class::Exec => hasher.write(first_string(arguments).unwrap_or(arguments)),
        Class::Poll => write_masked(&mut hasher, watched(event.name.of(chunk), arguments)),
        // A sleep's length, or the moment it lasts until, is another each time.
        Class::Lock | Class::Fork | Class::Wait | Class::Sleep => {}
        _ => write_masked(&mut hasher, arguments),
    }
    hasher.finish()
}

/// The first text in quotes, without them.
pub fn first_string(arguments: &[u8]) -> Option<&[u8]> {
    let start = memchr(b'"', arguments)? + 1;
    let rest = &arguments[start..];
    Some(&rest[..memchr(b'"', rest)?])
}

/// Of a poll's arguments those that say what is waited for: epoll's descriptor, the first list, or the first two.
fn watched<'a>(name: &[u8], arguments: &'a [u8]) -> &'a [u8] {
    let comma = |from: usize| memchr(b',', &arguments[from..]).map_or(arguments.len(), |at| from + at);
    let first = comma(0);
    if name.starts_with(b"epoll") {
        return &arguments[..first];
    }
    let end = match memchr(b'[', arguments).filter(|&at| at < 24) {
        Some(_) => memchr(b']', arguments).unwrap_or(arguments.len()),
        None => comma((first + 1).min(arguments.len())),
    };
    &arguments[..end]
}

/// Texts in quotes and numbers of six hexadecimal digits or more are replaced by a mark.
fn write_masked(hasher: &mut FxHasher, arguments: &[u8]) {
    let mut rest = arguments;
    while let Some(at) = memchr2(b'"', b'x', rest) {
        let (before, tail) = rest.split_at(at + 1);
        hasher.write(before);
        rest = if before[at] == b'"' {
            &tail[text_end(tail)..]
        } else {
            let digits = tail.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            if digits >= 6 { &tail[digits..] } else { tail }
        };
    }
    hasher.write(rest);
}

/// Arguments as they may be shown: contents of buffers, and what a program is started with, are left out, since they hold
/// data and passwords; paths are kept, of a program that is started its own.
pub fn shown(call: u16, arguments: &[u8]) -> String {
    const LONGEST: usize = 120;
    let mut texts_kept = match names::class(call) {
        Class::Open | Class::Path => usize::MAX,
        Class::Exec => 1,
        _ => 0,
    };
    let mut text = Vec::with_capacity(arguments.len().min(LONGEST));
    let mut rest = arguments;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if text.len() >= LONGEST {
            text.extend_from_slice(b"...");
            break;
        }
        if byte != b'"' {
            text.push(byte);
            continue;
        }
        let end = text_end(tail);
        rest = &tail[end..];
        if texts_kept > 0 {
            texts_kept -= 1;
            text.push(b'"');
            text.extend_from_slice(&tail[..end.min(LONGEST)]);
        } else {
            text.extend_from_slice(b"\"...\"");
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Length of a text up to and with its closing quote, and the dots that follow when the tool cut it.
fn text_end(text: &[u8]) -> usize {
    let mut at = 0;
    let quote = loop {
        let Some(found) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) else {
            return text.len();
        };
        match text[at + found] {
            b'"' => break at + found,
            _ => at += found + 2,
        }
    };
    let end = quote + 1;
    end + text[end..].iter().take(3).take_while(|byte| **byte == b'.').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(name: &str, arguments: &str) -> (Event, Vec<u8>) {
        let chunk = format!("{name}({arguments})").into_bytes();
        let mut event = Event {
            call: names::index(name.as_bytes()),
            name: Span::new(0, name.len()),
            arguments: Span::new(name.len() + 1, name.len() + 1 + arguments.len()),
            ..Event::default()
        };
        fill(&mut event, &chunk);
        (event, chunk)
    }

    fn site_of(name: &str, arguments: &str) -> u64 {
        filled(name, arguments).0.site
    }

    #[test]
    fn descriptors_sizes_and_positions_are_read() {
        let (read, _) = filled("pread64", r#"11, "\1\"), 2, \0"..., 8192, 409600"#);
        assert_eq!((read.fd, read.size, read.offset), (11, 8192, 409600));
        let (receive, _) = filled("recvfrom", r#"6, "Q\0\0", 8192, 0, NULL, NULL"#);
        assert_eq!((receive.fd, receive.size, receive.offset), (6, 8192, NO_NUMBER));
        let (seek, _) = filled("lseek", "3, 512, SEEK_SET");
        assert_eq!((seek.fd, seek.offset), (3, 512));
    }

    #[test]
    fn a_target_ends_at_its_own_bracket() {
        let (receive, chunk) = filled("recvfrom", r#"6<TCP:[127.0.0.1:5432->127.0.0.1:4711]>, "Q", 8192"#);
        assert_eq!(receive.fd, 6);
        assert_eq!(receive.target.of(&chunk), b"TCP:[127.0.0.1:5432->127.0.0.1:4711]");
        let (cut, chunk) = filled("read", "6<TCP:[127.0");
        assert_eq!((cut.fd, cut.target.of(&chunk)), (6, &b""[..]));
    }

    #[test]
    fn addresses_contents_and_positions_do_not_make_a_call_another() {
        let cladm = site_of("cladm", "CL_CONFIG, 17, 0xFFFFFFFF7FFF4FB8");
        assert_eq!(cladm, site_of("cladm", "CL_CONFIG, 17, 0xFFFFFFFF7FFF4E28"));
        assert_ne!(cladm, site_of("cladm", "CL_CONFIG, CL_NODEID, 0xFFFFFFFF7D104504"));
        assert_eq!(
            site_of("pread64", r#"4, "a", 10, 0"#),
            site_of("pread64", r#"4, "b", 10, 10"#)
        );
        assert_ne!(site_of("stat", r#""/a", {}"#), site_of("stat", r#""/b", {}"#));
        assert_ne!(
            site_of("pollsys", "0x10041CDA8, 2, 0x00000000, 0x00000000"),
            site_of("pollsys", "0x10041CDA8, 3, 0x00000000, 0x00000000")
        );
        assert_eq!(
            site_of("pselect6", "6, [5], NULL, NULL, {tv_sec=39, tv_nsec=59040318}, NULL"),
            site_of("pselect6", "6, [5], NULL, NULL, {tv_sec=60, tv_nsec=0}, NULL")
        );
        assert_eq!(
            site_of("epoll_wait", "4, [{events=EPOLLIN}], 1, -1"),
            site_of("epoll_wait", "4, [], 1, -1")
        );
    }

    #[test]
    fn contents_are_not_shown_and_paths_are() {
        let write = names::index(b"write");
        assert_eq!(shown(write, br#"3, "PASSWORD \"x\", 1"..., 40"#), r#"3, "...", 40"#);
        let open = names::index(b"openat");
        assert_eq!(
            shown(open, br#"AT_FDCWD, "/etc/hosts", O_RDONLY"#),
            r#"AT_FDCWD, "/etc/hosts", O_RDONLY"#
        );
        let exec = names::index(b"execve");
        assert_eq!(
            shown(exec, br#""/bin/psql", ["psql", "--password=x"], ["PGPASSWORD=x"]"#),
            r#""/bin/psql", ["...", "..."], ["..."]"#
        );
    }

    #[test]
    fn numbers_out_of_range_are_none() {
        assert_eq!(number(b"-12"), Some(-12));
        assert_eq!(number(b"0xFFFFFFFF7FFF889C"), Some(0xFFFF_FFFF_7FFF_889C_u64 as i64));
        assert_eq!(number(b"99999999999999999999"), None);
        assert_eq!(number(b""), None);
    }
}
