//! What stands behind the arguments: `) = 6 <0.000019>`, `) = -1 EAGAIN (Resource temporarily unavailable)`.
//!
//! It is read from the end of the line, since texts among the arguments may hold anything, brackets and equals signs too,
//! while the result has a narrow form.

use memchr::{memchr, memrchr};

use crate::details;
use crate::digits;
use crate::event::{Event, Kind, NO_NUMBER, Reason, Span};

/// Fill in time and result of a call whose arguments begin at `from`. `base` is where the line begins in the chunk.
#[inline]
pub fn read(line: &[u8], base: usize, from: usize, event: &mut Event) -> Result<(), Reason> {
    let mut end = line.len();
    if line.last() == Some(&b'>') {
        if let Some(open) = unfinished(line, from) {
            event.arguments = Span::new(base + from, base + open);
            event.kind = Kind::Unfinished;
            return Ok(());
        }
        if let Some((elapsed_ns, before)) = elapsed(line, from)? {
            event.elapsed_ns = elapsed_ns;
            end = before;
        }
    }
    let closing = result(line, base, from, end, event)?;
    let arguments_end = unfinished(&line[..closing], from).unwrap_or(closing);
    event.arguments = Span::new(base + from, base + arguments_end);
    Ok(())
}

/// Where the arguments end of a line that ends in `<unfinished ...>`.
pub fn unfinished(line: &[u8], from: usize) -> Option<usize> {
    let rest = line.get(from..)?;
    if !rest.ends_with(b" ...>") {
        return None;
    }
    let rest = rest
        .strip_suffix(b"<unfinished ...>")
        .or_else(|| rest.strip_suffix(b"<detached ...>"))?;
    Some(from + rest.strip_suffix(b" ").unwrap_or(rest).len())
}

/// The ` <0.000009>` at the end of a line: its value, and where it begins.
fn elapsed(line: &[u8], from: usize) -> Result<Option<(i64, usize)>, Reason> {
    const SHORT: usize = b" <0.000009>".len();
    if let Some(at) = line.len().checked_sub(SHORT)
        && at >= from
        && line[at + 1] == b'<'
        && line[at] == b' '
        && let Some(elapsed_ns) = digits::short_ns(line, at + 2)
    {
        return Ok(Some((elapsed_ns, at)));
    }
    const LONGEST: usize = 40;
    let window = from.max(line.len().saturating_sub(LONGEST));
    let Some(open) = memrchr(b'<', &line[window..]).map(|at| window + at) else {
        return Ok(None);
    };
    let text = &line[open + 1..line.len() - 1];
    let is_number = !text.is_empty() && text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-'));
    if !is_number || open == from || line[open - 1] != b' ' {
        return Ok(None);
    }
    let elapsed_ns = digits::seconds_ns(text).ok_or(Reason::BadNumber)?;
    Ok(Some((elapsed_ns, open - 1)))
}

/// Fill in the result before `end`; returns where the bracket that closes the arguments stands.
fn result(line: &[u8], base: usize, from: usize, end: usize, event: &mut Event) -> Result<usize, Reason> {
    let mut upto = end;
    while let Some(equals) = digits::find_last(b'=', &line[from..upto]).map(|at| from + at) {
        if line.get(equals + 1) == Some(&b' ')
            && let Some(closing) = closing_bracket(&line[from..equals])
            && let Some(value) = line.get(equals + 2..end)
            && value_of(value, base + equals + 2, event)?
        {
            return Ok(from + closing);
        }
        upto = equals;
    }
    Err(Reason::CutOff)
}

/// Where the bracket stands that only spaces follow.
fn closing_bracket(text: &[u8]) -> Option<usize> {
    let last = text.iter().rposition(|&byte| byte != b' ')?;
    (text[last] == b')').then_some(last)
}

/// Read `text` as a result, if it has the form of one: a number or `?`, an error's name, a remark.
fn value_of(text: &[u8], base: usize, event: &mut Event) -> Result<bool, Reason> {
    let len = text.iter().take_while(|byte| !matches!(byte, b' ' | b'<')).count();
    let (value, rest) = text.split_at(len);
    let (error, remark) = match rest {
        [b' ', b'E', ..] => {
            let word = &rest[1..];
            let len = memchr(b' ', word).unwrap_or(word.len());
            (
                Span::new(base + value.len() + 1, base + value.len() + 1 + len),
                &word[len..],
            )
        }
        _ => (Span::default(), rest),
    };
    let is_remark = matches!(
        remark,
        [] | [b'<', .., b'>' | b')'] | [b' ', b'(' | b'<' | b'/', .., b')' | b'>' | b'/']
    );
    if !is_remark || !fill_value(value, event)? {
        return Ok(false);
    }
    let remark_end = base + text.len();
    let remark_start = remark_end - remark.len() + usize::from(remark.first() == Some(&b' '));
    event.remark = Span::new(remark_start, remark_end);
    event.error = error;
    if remark.starts_with(b" (errno ") && error.is_empty() {
        event.error = Span::new(remark_start + 1, remark_end - 1);
    }
    if !event.error.is_empty() {
        event.result = NO_NUMBER;
        event.kind = Kind::Call;
    }
    Ok(true)
}

fn fill_value(value: &[u8], event: &mut Event) -> Result<bool, Reason> {
    if value == b"?" {
        event.kind = Kind::NoReturn;
        return Ok(true);
    }
    if !value.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-') {
        return Ok(false);
    }
    let number = match digits::decimal(value) {
        Some(number) => number,
        None => match details::number(value) {
            Some(number) => number,
            None if value.iter().all(|byte| byte.is_ascii_digit()) => return Err(Reason::BadNumber),
            None => return Ok(false),
        },
    };
    event.result = number;
    Ok(true)
}
