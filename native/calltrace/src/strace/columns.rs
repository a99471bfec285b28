//! What stands before the call: process, time stamps, number of the call, address of the instruction.

use memchr::memchr;

use crate::digits;
use crate::event::{Event, Reason};
use crate::layout::{Clock, Layout};

/// Digits of the largest pid Linux gives, 4194304; a longer number is a time stamp.
const PID_DIGITS: usize = 7;
const SECOND_NS: i64 = 1_000_000_000;

/// Read pid and time stamp into the event; returns where the call begins.
#[inline]
pub fn read(layout: &Layout, line: &[u8], event: &mut Event) -> Result<usize, Reason> {
    let mut at = pid(layout, line, event);
    if layout.clock != Clock::None {
        let spaces = spaces(&line[at..]);
        let (stamp_ns, len) = stamp(layout.clock, line, at + spaces, at + spaces > 0)?;
        event.stamp_ns = stamp_ns;
        at += spaces + len;
        if line.get(at) != Some(&b' ') {
            return Err(Reason::NotTrace);
        }
        at += 1;
    }
    Ok(match line.get(at) {
        Some(b'[' | b'(') => at + brackets(&line[at..]),
        _ => at,
    })
}

/// `123 `, `123<bash> ` or `[pid   123] `. The latter is looked for on every line: it stands there only while more than one
/// process is traced.
fn pid(layout: &Layout, line: &[u8], event: &mut Event) -> usize {
    let (start, closing) = match line.first() {
        Some(b'[') if line.starts_with(b"[pid ") => (5 + spaces(&line[5..]), b']'),
        Some(b'0'..=b'9') if layout.has_pid => (0, b' '),
        _ => return 0,
    };
    let rest = &line[start..];
    let (mut pid, mut digits) = (0, 0);
    while let Some(&digit @ b'0'..=b'9') = rest.get(digits)
        && digits < PID_DIGITS
    {
        pid = pid * 10 + u32::from(digit - b'0');
        digits += 1;
    }
    let name = match rest.get(digits) {
        Some(b'<') => memchr(b'>', rest).map_or(0, |end| end + 1 - digits),
        _ => 0,
    };
    if digits == 0 || rest.get(digits + name) != Some(&closing) {
        return 0;
    }
    event.pid = pid;
    let end = start + digits + name + 1;
    end + spaces(&line[end..])
}

/// Value and length of the time stamp at `at`.
fn stamp(clock: Clock, line: &[u8], at: usize, after_space: bool) -> Result<(i64, usize), Reason> {
    if clock == Clock::Epoch
        && let Some(stamp_ns) = digits::epoch_ns(line, at)
        && line.get(at + 17) == Some(&b' ')
    {
        return Ok((stamp_ns, 17));
    }
    other_stamp(clock, line, at, after_space)
}

fn other_stamp(clock: Clock, line: &[u8], at: usize, after_space: bool) -> Result<(i64, usize), Reason> {
    let rest = &line[at..];
    let len = rest
        .iter()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'.' | b':'))
        .count();
    let text = &rest[..len];
    let whole = digits::count(text);
    let decimals = len.saturating_sub(whole + 1);
    let fits = match clock {
        Clock::Epoch => whole >= 9 && known_precision(decimals),
        Clock::Line => whole < 9 && known_precision(decimals) && (decimals > 0 || after_space),
        Clock::Day => {
            return time_of_day(text)
                .map(|stamp_ns| (stamp_ns, len))
                .ok_or(Reason::NotTrace);
        }
        Clock::None | Clock::Start => false,
    };
    if whole == 0 || !fits {
        return Err(Reason::NotTrace);
    }
    let stamp_ns = digits::seconds_ns(text).ok_or(Reason::BadNumber)?;
    Ok((stamp_ns, len))
}

/// strace prints seconds, milli-, micro- or nanoseconds; other tools print other numbers of decimals.
fn known_precision(decimals: usize) -> bool {
    matches!(decimals, 0 | 3 | 6 | 9)
}

/// `23:02:49.765154`
fn time_of_day(text: &[u8]) -> Option<i64> {
    if text.len() < 8 || text[2] != b':' || text[5] != b':' {
        return None;
    }
    let (hours, minutes) = (digits::decimal(&text[..2])?, digits::decimal(&text[3..5])?);
    let seconds_ns = digits::seconds_ns(&text[6..])?;
    let fits = hours < 24 && minutes < 60 && seconds_ns < 61 * SECOND_NS;
    fits.then_some((hours * 60 + minutes) * 60 * SECOND_NS + seconds_ns)
}

/// Length of `(+     0.000145) ` (-r beside another clock), `[  59] ` (-n) and `[00007f49c30f9c47] ` (-i).
fn brackets(line: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let rest = &line[at..];
        let end = match rest {
            [b'(', b'+', ..] => memchr(b')', rest),
            [b'[', ..] => memchr(b']', rest),
            _ => None,
        };
        match end {
            Some(end) => at += end + 1 + spaces(&rest[end + 1..]),
            None => return at,
        }
    }
}

pub fn spaces(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| byte == b' ').count()
}
