//! What stands behind the arguments: `= 14 [15]`, `Err#2 ENOENT`, `(sleeping...)`, `argc = 2`, or nothing.
//!
//! It is read from the end of the line: texts among the arguments may hold brackets, while the outcome has a narrow form.

use memchr::memrchr;

use crate::details;
use crate::digits;
use crate::event::{Event, Kind, NO_NUMBER, Reason, Span};
use crate::names::{self, Class};

/// Fill in the outcome of a call whose arguments begin at `from`. `base` is where the line begins in the chunk.
pub fn read(line: &[u8], base: usize, from: usize, event: &mut Event) -> Result<(), Reason> {
    let line = line.trim_ascii_end();
    if let Some(end) = asleep(line, from) {
        event.kind = Kind::Unfinished;
        event.arguments = Span::new(base + from, base + end);
        return Ok(());
    }
    let mut upto = line.len();
    while let Some(closing) = memrchr(b')', line.get(from..upto).unwrap_or_default()).map(|at| from + at) {
        let tail = line[closing + 1..].trim_ascii_start();
        let ends_there = tail.is_empty() && returns_never(&line[..from - 1], event);
        if ends_there || follows(tail, base + line.len() - tail.len(), event) {
            let closing = own_closing(line, closing, event);
            event.arguments = Span::new(base + from, base + closing);
            return Ok(());
        }
        upto = closing;
    }
    Err(Reason::CutOff)
}

/// Where the arguments end of a call that truss found asleep: it is written again when it returns.
fn asleep(line: &[u8], from: usize) -> Option<usize> {
    let call = line
        .strip_suffix(b"(sleeping...)")
        .or_else(|| line.strip_suffix(b"(waiting for child to exit()/exec()...)"))?
        .trim_ascii_end();
    let arguments = call.get(from..)?.strip_suffix(b")")?;
    Some(from + arguments.len())
}

/// Read `tail`, which begins at `base` in the chunk, as the outcome, if it has the form of one.
fn follows(tail: &[u8], base: usize, event: &mut Event) -> bool {
    match tail {
        [b'=', rest @ ..] => value(rest, base + 1, event),
        [b'E', b'r' | b'R', b'r' | b'R', b'#', ..] => error(tail, base, event),
        [b'a', b'r', b'g', b'c', ..] => argument_count(tail, base, event),
        _ => false,
    }
}

/// Calls that end the process or the thread, or change what it runs, are written without an outcome. `line` ends with the name.
fn returns_never(line: &[u8], event: &mut Event) -> bool {
    event.kind = Kind::NoReturn;
    event.result = NO_NUMBER;
    let name = line.trim_ascii_end();
    matches!(names::class(event.call), Class::Exit | Class::Exec)
        || name.ends_with(b"lwp_exit")
        || name.ends_with(b"context")
}

/// ` 13`, ` 14 [15]`, ` 0xFFBFFEFF [0x0000FFFF]`, ` SIGALRM`, ` 1 (0x1)` (FreeBSD), or empty (AIX).
fn value(text: &[u8], base: usize, event: &mut Event) -> bool {
    let at = blanks(text);
    let word = word(&text[at..]);
    let rest = &text[at + word.len()..];
    let remark = rest.trim_ascii();
    if !matches!(remark, [] | [b'[', .., b']'] | [b'(', .., b')']) {
        return false;
    }
    let number = match word {
        [b'0', b'0'..=b'7', ..] => octal(word),
        _ => details::number(word),
    };
    let is_signal = word.starts_with(b"SIG");
    let (true, number) = (word.is_empty() || is_signal || number.is_some(), number) else {
        return false;
    };
    let end = base + text.len();
    event.kind = Kind::Call;
    event.result = number.unwrap_or(NO_NUMBER);
    event.remark = match remark {
        [] if is_signal => Span::new(base + at, base + at + word.len()),
        _ => Span::new(end - remark.len(), end),
    };
    true
}

/// `Err#2 ENOENT`, `Err#13 EACCES [file_dac_read]`, `ERR#35 'Resource temporarily unavailable'` (FreeBSD).
fn error(text: &[u8], base: usize, event: &mut Event) -> bool {
    let code = word(text);
    let after = code.len() + blanks(&text[code.len()..]);
    let name = word(&text[after..]);
    let (start, len) = match name {
        [b'E', ..] => (after, name.len()),
        _ => (0, code.len()),
    };
    let remark = text[start + len..].trim_ascii();
    let end = base + text.len();
    event.kind = Kind::Call;
    event.result = NO_NUMBER;
    event.error = Span::new(base + start, base + start + len);
    event.remark = Span::new(end - remark.len(), end);
    digits::decimal(&code[4..]).is_some()
}

/// `argc = 2` (AIX: `argc: 2`) follows a successful exec.
fn argument_count(text: &[u8], base: usize, event: &mut Event) -> bool {
    let count = text[4..].trim_ascii_start();
    let count = count.strip_prefix(b"=").or_else(|| count.strip_prefix(b":"));
    event.kind = Kind::Call;
    event.result = 0;
    event.remark = Span::new(base, base + text.len());
    count.is_some_and(|count| digits::decimal(count.trim_ascii()).is_some())
}

/// `fork1() (returning as child ...) = 15697`: the call's own bracket is the one before.
fn own_closing(line: &[u8], closing: usize, event: &mut Event) -> usize {
    let text = &line[..=closing];
    let as_child = text.strip_suffix(b"(returning as child ...)");
    let before = as_child.or_else(|| text.strip_suffix(b"(returning as new lwp ...)"));
    let Some(call) = before.and_then(|call| call.trim_ascii_end().strip_suffix(b")")) else {
        return closing;
    };
    if as_child.is_some() {
        event.kind = Kind::Child;
    }
    call.len()
}

fn blanks(text: &[u8]) -> usize {
    text.len() - text.trim_ascii_start().len()
}

/// Up to the next white space.
fn word(text: &[u8]) -> &[u8] {
    let len = text.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    &text[..len]
}

fn octal(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| i64::from_str_radix(text, 8).ok())
}
