//! PostgreSQL's log on standard error: a prefix, a severity, a message; what belongs to it follows in lines of its own.

use std::ops::Range;

use memchr::memmem;

use super::entry::{Entry, Severity};
use super::lines::{self, Part};
use super::messages::{self, languages};
use super::moment::Moment;
use super::prefix::{Patterns, Prefix};

const SAMPLES: usize = 2000;
const PREFIX_SET: &[u8] = b"parameter \"log_line_prefix\" changed to \"";

/// What a line of the log begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Message(Severity),
    Detail,
    Context,
    Statement,
    Other,
}

/// Where the prefix ends, what follows, and where its text begins.
fn mark_of(line: &[u8]) -> Option<(usize, Mark, usize)> {
    memmem::find_iter(line, b":  ").find_map(|colon| {
        let begin = colon - word_length(&line[..colon], u8::is_ascii_alphanumeric);
        let mark = match &line[begin..colon] {
            b"DETAIL" => Mark::Detail,
            b"CONTEXT" => Mark::Context,
            b"STATEMENT" => Mark::Statement,
            b"HINT" | b"QUERY" | b"LOCATION" | b"BACKTRACE" => Mark::Other,
            word => match Severity::of(word) {
                Some(severity) => Mark::Message(severity),
                None => return in_another_language(line, colon),
            },
        };
        Some((begin, mark, colon + 3))
    })
}

fn word_length(text: &[u8], is_of_word: impl Fn(&u8) -> bool) -> usize {
    text.iter().rev().take_while(|byte| is_of_word(byte)).count()
}

/// A mark in the server's own words; French has a space before its colons.
fn in_another_language(line: &[u8], colon: usize) -> Option<(usize, Mark, usize)> {
    let before = line[..colon].strip_suffix(b" ").unwrap_or(&line[..colon]);
    let begin = before.len() - word_length(before, |byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    let word = &before[begin..];
    let mark = languages::part(word).map(|part| match part {
        languages::Part::Detail => Mark::Detail,
        languages::Part::Context => Mark::Context,
        languages::Part::Statement => Mark::Statement,
    });
    let mark = mark.or_else(|| languages::severity(word).map(Mark::Message))?;
    Some((begin, mark, colon + 3))
}

/// Whether a line belongs to the one before it: it begins with a tab, which copying may have made eight spaces.
fn goes_on(line: &[u8]) -> bool {
    line.first() == Some(&b'\t') || (line.starts_with(b"        ") && mark_of(line).is_none())
}

/// Whether a line begins a new message.
pub fn is_start(line: &[u8]) -> bool {
    line.first().is_some_and(|byte| *byte != b'\t') && matches!(mark_of(line), Some((_, Mark::Message(_), _)))
}

/// What stands before the severity, where the line begins a message or a part of one.
pub fn prefix_of(line: &[u8]) -> Option<&[u8]> {
    mark_of(line).map(|(begin, _, _)| &line[..begin])
}

/// Finds out log_line_prefix from the beginning of a log.
pub fn patterns(head: &[u8]) -> Patterns {
    let samples = || {
        let split = |line| match mark_of(line) {
            Some((begin, Mark::Message(_), text)) => Some((&line[..begin], &line[text..])),
            _ => None,
        };
        head.split(|byte| *byte == b'\n').filter_map(split).take(SAMPLES)
    };
    let mut set: Vec<String> = samples()
        .filter_map(|(_, message)| message.strip_prefix(PREFIX_SET))
        .map(|value| {
            String::from_utf8_lossy(value)
                .trim_end()
                .trim_end_matches('"')
                .to_string()
        })
        .collect();
    set.dedup();
    Patterns::infer(samples(), &set)
}

/// A message under way: where its texts lie.
struct Open<'a> {
    prefix: Prefix<'a>,
    severity: Severity,
    texts: [Range<usize>; 4],
    /// Which of them goes on in the next line.
    now: Option<usize>,
}

const MESSAGE: usize = 0;
const DETAIL: usize = 1;
const CONTEXT: usize = 2;
const STATEMENT: usize = 3;

/// Reads whole messages.
pub fn read(bytes: &[u8], patterns: &Patterns, part: &mut Part) {
    let mut open: Option<Open> = None;
    for (begin, line) in lines::of(bytes) {
        part.lines += 1;
        if goes_on(line) {
            let end = begin + line.len();
            if let Some((open, now)) = open.as_mut().and_then(|open| open.now.map(|now| (open, now))) {
                // What another program indented is no part of an error's message; a statement's lines are its own.
                let told = &bytes[open.texts[now].clone()];
                if line.first() == Some(&b'\t') || now != MESSAGE || told.starts_with(b"duration: ") {
                    open.texts[now].end = end;
                }
            }
            continue;
        }
        let Some((prefix_end, mark, text)) = mark_of(line) else {
            if !line.is_empty() {
                part.foreign();
                // A part of a message in words that are not known: what goes on below is its, and may hold values.
                if let Some(open) = &mut open {
                    open.now = None;
                }
            }
            continue;
        };
        let range = begin + text..begin + line.len();
        if let Mark::Message(severity) = mark {
            close(open.take(), bytes, part);
            let mut prefix = patterns.read(&line[..prefix_end], &mut part.tally.zones);
            if patterns.is_untimed {
                prefix.moment = Some(Moment::UNTOLD);
            }
            open = Some(Open {
                prefix,
                severity,
                texts: [range, 0..0, 0..0, 0..0],
                now: Some(MESSAGE),
            });
        } else if let Some(open) = &mut open {
            open.now = match mark {
                Mark::Detail => Some(DETAIL),
                Mark::Context => Some(CONTEXT),
                Mark::Statement => Some(STATEMENT),
                _ => None,
            };
            if let Some(now) = open.now {
                open.texts[now] = range;
            }
        }
    }
    close(open, bytes, part);
}

fn close(open: Option<Open>, bytes: &[u8], part: &mut Part) {
    let Some(open) = open else { return };
    let Some(moment) = open.prefix.moment else {
        return part.skip("no time in it: log_line_prefix has neither %m nor %t nor %n");
    };
    let [message, detail, context, statement] = open.texts.map(|range| &bytes[range]);
    let (sqlstate, message) = split_state(message).unwrap_or((open.prefix.sqlstate, message));
    let entry = Entry {
        sqlstate,
        database: open.prefix.database,
        user: open.prefix.user,
        application: open.prefix.application,
        client: open.prefix.client,
        process: open.prefix.process,
        message,
        detail,
        context,
        statement,
        ..Entry::new(moment, open.severity)
    };
    messages::take(&entry, part);
}

/// log_error_verbosity = verbose puts the SQLSTATE before the message.
fn split_state(message: &[u8]) -> Option<(&[u8], &[u8])> {
    let state = message.get(..5)?;
    let is_state = state
        .iter()
        .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let has_digit = state.iter().any(u8::is_ascii_digit);
    (is_state && has_digit && message[5..].starts_with(b": ")).then(|| (state, &message[7..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_severity_ends_the_prefix() {
        let line = b"2026-11-20 22:44:50 UTC [1] a:  b LOG:  duration: 1.000 ms  statement: SELECT ERROR:  x";
        assert_eq!(mark_of(line), Some((34, Mark::Message(Severity::Log), 40)));
        assert!(!is_start(b"\tLOG:  in a statement"));
        assert!(!is_start(b"2026 [1] STATEMENT:  SELECT"));
    }

    #[test]
    fn a_state_before_the_message_is_taken_off() {
        assert_eq!(split_state(b"42P01: relation"), Some((&b"42P01"[..], &b"relation"[..])));
        assert_eq!(split_state(b"could not"), None);
        assert_eq!(split_state(b"ABCDE: x"), None);
    }
}
