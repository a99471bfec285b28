//! Errors and warnings, by severity, SQLSTATE and a message without what the user typed.

use super::failing;
use super::life;
use super::locks;
use super::vacuum;
use crate::scrub::{Dialect, scrub};
use crate::server_log::entry::{Entry, Severity};
use crate::server_log::figures as f;
use crate::server_log::lines::Part;

/// What is named in quotes after these words is an object's name; elsewhere it may be a value.
const OBJECTS: [&[u8]; 15] = [
    b"constraint",
    b"database",
    b"extension",
    b"index",
    b"parameter",
    b"publication",
    b"relation",
    b"schema",
    b"sequence",
    b"slot",
    b"subscription",
    b"table",
    b"tablespace",
    b"view",
    b"worker",
];
/// What stands before the name of a library that is to be loaded.
const LIBRARY: &[u8] = b"could not access file ";
const LONGEST: usize = 200;

pub fn take(entry: &Entry, part: &mut Part) {
    let message = entry.message;
    if message == b"deadlock detected" {
        locks::deadlock(entry, part);
    }
    if message == b"canceling autovacuum task" {
        vacuum::cancelled(entry, part);
    }
    if life::is_refusal(entry) {
        part.tally.add(entry.moment, f::TOO_MANY, b"", 1);
    }
    let state = if entry.sqlstate.is_empty() || entry.sqlstate == failing::SUCCESS {
        ""
    } else {
        &format!("{} ", String::from_utf8_lossy(entry.sqlstate))
    };
    let said = if is_raised(entry) {
        "(raised by a function)".to_string()
    } else {
        without_constants(message)
    };
    let name = format!("{} {state}{said}", entry.severity.word());
    part.tally.add(entry.moment, f::ERRORS, name.as_bytes(), 1);
    if let Some(function) = function_of(entry.context) {
        let (within, others) = (format!("{name} | {function}"), format!("{name} | others"));
        let within = part.tally.name_or(&within, &others);
        part.tally.add(entry.moment, f::ERRORS_IN, within.as_bytes(), 1);
    }
    // Of a server that is looked at while it writes, all that a role asks for may fail in whatever way.
    let is_live = !entry.process.is_empty();
    if (entry.severity != Severity::Error || fails_again(entry) || (is_live && !may_be_meant(entry)))
        && let Some(who) = failing::who(entry)
    {
        let (from, others) = (format!("{name} | {who}"), format!("{name} | others"));
        let from = part.tally.name_or(&from, &others);
        part.tally.add(entry.moment, f::ERRORS_FROM, from.as_bytes(), 1);
    }
    if entry.severity == Severity::Panic {
        part.tally.event(entry.moment, "error", "", format!("PANIC: {said}"));
    }
}

/// The innermost function that a message came from, and where in it, as its context tells: in English, where it is logged.
fn function_of(context: &[u8]) -> Option<String> {
    context.split(|byte| *byte == b'\n').find_map(|line| {
        let line = String::from_utf8_lossy(line.trim_ascii());
        let told = if let Some(rest) = line.strip_prefix("PL/pgSQL function ") {
            rest.contains(" line ").then(|| rest.to_string())
        } else {
            line.strip_prefix("SQL function \"")
                .and_then(|rest| rest.split_once('"'))
                .map(|(name, _)| name.to_string())
        };
        told.filter(|name| name.len() <= LONGEST)
            .map(|name| name.replace('|', "/"))
    })
}

/// SQLSTATE classes of a statement that fails whenever this user, session or application tries again, and not others'.
const AGAIN: [&[u8]; 4] = [b"0A", b"25", b"42", b"55"];
/// What follows from another error, and a lock that was not waited for.
const ONCE: [&[u8]; 2] = [b"25P02", b"55P03"];
/// How such messages begin, or go on, where no SQLSTATE is logged (PostgreSQL 13 to 18).
const AGAIN_WORDS: [&[u8]; 4] = [
    b"cannot ",
    b"permission denied ",
    b"must be owner ",
    b"must be superuser ",
];
const NOT_THERE: [&[u8]; 2] = [b" does not exist", b" is ambiguous"];
/// A limit that may be set for some alone, and a partition that is not there for the rows of some, with or without one.
const OF_SOME: [&[u8]; 4] = [
    b"canceling statement due to statement timeout",
    b"canceling statement due to lock timeout",
    b"no partition of relation ",
    b"cached plan must not change ",
];

/// Whether it matters whose statement an error is.
fn fails_again(entry: &Entry) -> bool {
    let (state, message) = (entry.sqlstate, entry.message);
    if OF_SOME.iter().any(|words| message.starts_with(words)) {
        return true;
    }
    if state.is_empty() {
        return AGAIN_WORDS.iter().any(|words| message.starts_with(words))
            || NOT_THERE
                .iter()
                .any(|words| memchr::memmem::find(message, words).is_some());
    }
    AGAIN.iter().any(|class| state.starts_with(class)) && !ONCE.contains(&state)
}

/// SQLSTATE classes and words of what an application may use to find something out, gives up itself, or tries again.
const MEANT: [&[u8]; 4] = [b"23", b"40", b"57", b"P0"];
const MEANT_WORDS: [&[u8]; 5] = [
    b"canceling ",
    b"could not obtain lock ",
    b"could not serialize ",
    b"deadlock detected",
    b"duplicate key ",
];

/// Whether nobody is to be told whose error it is.
fn may_be_meant(entry: &Entry) -> bool {
    let (state, message) = (entry.sqlstate, entry.message);
    ONCE.contains(&state)
        || MEANT.iter().any(|class| state.starts_with(class))
        || MEANT_WORDS.iter().any(|words| message.starts_with(words))
        || memchr::memmem::find(message, b" violates ").is_some()
        || is_raised(entry)
}

/// RAISE in a function: its text is the application's, and may hold anything.
pub fn is_raised(entry: &Entry) -> bool {
    entry.sqlstate == b"P0001" || memchr::memmem::find(entry.context, b"RAISE").is_some()
}

/// What write(2) and open(2) say where a place has no room for a file: then it matters whose it is.
const LACKS: [&[u8]; 3] = [b"No space left on device", b"uota exceeded", b"Too many open files"];
/// Folders of the data directory (PostgreSQL documentation, "Database File Layout"), the inner ones first.
const FOLDERS: [&[u8]; 9] = [
    b"base/pgsql_tmp/",
    b"base/",
    b"global/",
    b"pg_wal/",
    b"pg_tblspc/",
    b"pg_replslot/",
    b"pg_logical/",
    b"pg_dynshmem/",
    b"pg_xact/",
];

/// A message on one line without numbers and without what stands in quotes, but for names of objects.
pub fn without_constants(message: &[u8]) -> String {
    let message = &with_plain_quotes(message);
    let lacks_room = LACKS.iter().any(|words| memchr::memmem::find(message, words).is_some());
    let mut plain = Vec::with_capacity(message.len());
    let mut rest = &message[..];
    while let Some(quote) = memchr::memchr(b'"', rest) {
        plain.extend_from_slice(&rest[..quote]);
        rest = &rest[quote + 1..];
        let names_object = OBJECTS
            .iter()
            .any(|word| plain.strip_suffix(b" ").is_some_and(|text| text.ends_with(word)))
            || plain == LIBRARY;
        let end = closing_quote(rest);
        let quoted = &rest[..end.unwrap_or(rest.len())];
        rest = end.map_or(&[], |end| &rest[end + 1..]);
        plain.push(b'"');
        match folder(quoted).filter(|_| lacks_room && (plain.ends_with(b"file \"") || plain.ends_with(b"directory \"")))
        {
            Some(folder) => plain.extend_from_slice(&[folder, b"?"].concat()),
            None => plain.extend_from_slice(if names_object { quoted } else { b"?" }),
        }
        plain.push(b'"');
    }
    plain.extend_from_slice(rest);
    let mut scrubbed = Vec::new();
    // Standard error alone says where in the statement it was.
    let plain = memchr::memmem::rfind(&plain, b" at character ").map_or(&plain[..], |end| &plain[..end]);
    scrub(plain, Dialect::Postgres, &mut scrubbed);
    scrubbed.truncate(LONGEST);
    String::from_utf8_lossy(&scrubbed).into_owned()
}

/// Where a quoted part ends that may hold quotes itself, as a value or a word of a statement does.
///
/// No letter and no quote stands behind the one that ends it, and those behind it come in pairs; else the last one is.
fn closing_quote(text: &[u8]) -> Option<usize> {
    let quotes: Vec<usize> = memchr::memchr_iter(b'"', text).collect();
    let ends = |(number, &at): (usize, &usize)| {
        let behind = text.get(at + 1);
        let is_apart = behind.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'"');
        (is_apart && (quotes.len() - 1 - number).is_multiple_of(2)).then_some(at)
    };
    quotes
        .iter()
        .enumerate()
        .find_map(ends)
        .or_else(|| quotes.last().copied())
}

/// The folder of a server's file, which may lie on a file system of its own; nothing of any other file.
fn folder(path: &[u8]) -> Option<&'static [u8]> {
    FOLDERS.iter().find(|folder| path.starts_with(folder)).copied()
}

/// The quotes of other languages than English, « and », as plain ones.
fn with_plain_quotes(message: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(message.len());
    let mut rest = message;
    while let Some((byte, after)) = rest.split_first() {
        let is_quote = *byte == 0xC2 && matches!(after.first(), Some(0xAB | 0xBB));
        plain.push(if is_quote { b'"' } else { *byte });
        rest = if is_quote { &after[1..] } else { after };
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_file_stays_where_there_was_no_room_for_it() {
        for (message, left) in [
            (
                "could not extend file \"base/16384/16399.2\": No space left on device",
                "could not extend file \"base/?\": No space left on device",
            ),
            (
                "could not write to file \"base/pgsql_tmp/pgsql_tmp77.0\": No space left on device",
                "could not write to file \"base/pgsql_tmp/?\": No space left on device",
            ),
            (
                "could not create file \"pg_tblspc/16400/PG_15/5/7\": Disk quota exceeded",
                "could not create file \"pg_tblspc/?\": Disk quota exceeded",
            ),
            (
                "could not open file \"/home/secret\": No space left on device",
                "could not open file \"?\": No space left on device",
            ),
            (
                "could not open file \"base/5/7\": No such file or directory",
                "could not open file \"?\": No such file or directory",
            ),
        ] {
            assert_eq!(without_constants(message.as_bytes()), left);
        }
    }

    #[test]
    fn the_function_of_a_message_is_the_innermost() {
        for (context, function) in [
            (
                "PL/pgSQL function orders_of(integer) line 3 at RETURN QUERY",
                Some("orders_of(integer) line 3 at RETURN QUERY"),
            ),
            (
                "SQL statement \"insert into t values ('secret')\"\n\tPL/pgSQL function inner_one() line 2 at SQL statement\n\tPL/pgSQL function outer() line 9 at PERFORM",
                Some("inner_one() line 2 at SQL statement"),
            ),
            ("SQL function \"total\" statement 1", Some("total")),
            ("unnamed portal with parameters: $1 = 'secret'", None),
            ("", None),
        ] {
            assert_eq!(function_of(context.as_bytes()).as_deref(), function, "{context}");
        }
    }

    #[test]
    fn the_name_of_a_library_stays() {
        assert_eq!(
            without_constants(b"could not access file \"pg_hint_plan\": No such file or directory"),
            "could not access file \"pg_hint_plan\": No such file or directory"
        );
    }

    #[test]
    fn values_leave_messages() {
        for (message, left) in [
            (
                "duplicate key value violates unique constraint \"t_pkey\"",
                "duplicate key value violates unique constraint \"t_pkey\"",
            ),
            (
                "invalid input syntax for type integer: \"secret 1\"",
                "invalid input syntax for type integer: \"?\"",
            ),
            (
                "column \"hunter2\" does not exist at character 15",
                "column \"?\" does not exist",
            ),
            ("no existe la relación «secret»", "no existe la relación \"?\""),
            ("Relation »secret« existiert nicht", "Relation \"?\" existiert nicht"),
            ("bad value 'it''s secret' of it", "bad value ? of it"),
            ("syntax error at or near \"secret", "syntax error at or near \"?\""),
            (
                "syntax error at or near \"\"secret\"\"",
                "syntax error at or near \"?\"",
            ),
            (
                "syntax error at or near \"'a \"secret\" b'\"",
                "syntax error at or near \"?\"",
            ),
            (
                "column \"secret\" of relation \"item\" does not exist",
                "column \"?\" of relation \"item\" does not exist",
            ),
        ] {
            assert_eq!(without_constants(message.as_bytes()), left);
        }
    }
}
