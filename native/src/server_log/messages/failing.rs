//! Messages of severity LOG that tell of something that failed, and who it was that a message is about.

use super::errors::is_raised;
use crate::server_log::entry::Entry;

/// What is in the English message of something that did not succeed: words of the server's own sources, versions 13 to 18.
const WORDS: [&[u8]; 25] = [
    b"broken",
    b"canceling ",
    b"cannot ",
    b"contains errors",
    b"corrupt",
    b"could not ",
    b"denied",
    b"did not ",
    b"does not match",
    b"error: ",
    b"exceed",
    b"failed",
    b"incomplete ",
    b"incorrect ",
    b"invalid ",
    b"lost ",
    b"mismatch",
    b"must be ",
    b"not reloaded",
    b"not responding",
    b"out of ",
    b"terminating ",
    b"too many",
    b"too long",
    b"unexpected ",
];
/// What extensions write as well as it goes: statements stand in it, of whatever words.
const STATEMENTS: [&[u8]; 3] = [b"AUDIT: ", b"cron job ", b"pgaudit "];
/// Of a message that is no error; jsonlog leaves it out.
pub const SUCCESS: &[u8] = b"00000";
const LONGEST: usize = 64;

/// Whether a message of severity LOG is of something that failed: by its SQLSTATE, in any language, else by its words.
pub fn is_failing(entry: &Entry) -> bool {
    let message = entry.message;
    if is_raised(entry) || STATEMENTS.iter().any(|begin| message.starts_with(begin)) {
        return false;
    }
    let has_state = !entry.sqlstate.is_empty() && entry.sqlstate != SUCCESS;
    has_state || WORDS.iter().any(|word| memchr::memmem::find(message, word).is_some())
}

/// User, database, application and client of a message, as far as the log tells them, a client without its port; else
/// the number of its process.
pub fn who(entry: &Entry) -> Option<String> {
    let told: Vec<String> = [
        ("user", entry.user),
        ("database", entry.database),
        ("application", entry.application),
        ("client", without_port(entry.client)),
    ]
    .into_iter()
    .filter(|(_, name)| !name.is_empty())
    .map(|(what, name)| format!("{what} {}", plain(name)))
    .collect();
    if told.is_empty() && !entry.process.is_empty() {
        return Some(format!("process {}", plain(entry.process)));
    }
    (!told.is_empty()).then(|| told.join(", "))
}

/// A name that anybody may have chosen: not too long, and without the sign that parts it from the message.
fn plain(name: &[u8]) -> String {
    String::from_utf8_lossy(&name[..name.len().min(LONGEST)]).replace('|', "/")
}

/// `10.0.0.5:4321`, `10.0.0.5(4321)` of %r.
fn without_port(client: &[u8]) -> &[u8] {
    let plain = client.strip_suffix(b")").unwrap_or(client);
    let digits = plain.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let before = &plain[..plain.len() - digits];
    let is_port =
        digits > 0 && (plain.len() < client.len() || before.iter().filter(|byte| **byte == b':').count() == 1);
    match before.split_last() {
        Some((b'(' | b':', host)) if is_port => host,
        _ => client,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server_log::entry::Severity;
    use crate::server_log::moment::Moment;

    fn logged<'a>(message: &'a str, sqlstate: &'a str) -> Entry<'a> {
        Entry {
            message: message.as_bytes(),
            sqlstate: sqlstate.as_bytes(),
            ..Entry::new(Moment::UNTOLD, Severity::Log)
        }
    }

    #[test]
    fn what_failed_is_told_apart() {
        for (message, state, is_it) in [
            ("could not accept SSL connection: no shared cipher", "", true),
            ("etwas ging schief", "08P01", true),
            ("etwas ging gut", "00000", false),
            ("database system is ready to accept connections", "", false),
            ("AUDIT: SESSION,1,1,READ,SELECT,,,select failed from t", "", false),
        ] {
            assert_eq!(is_failing(&logged(message, state)), is_it, "{message}");
        }
    }

    #[test]
    fn who_it_was_without_a_port() {
        for (client, left) in [
            ("10.0.0.5:4321", "10.0.0.5"),
            ("10.0.0.5(4321)", "10.0.0.5"),
            ("[local]", "[local]"),
            ("fe80::1", "fe80::1"),
            ("fe80::1(77)", "fe80::1"),
            ("10.0.0.5", "10.0.0.5"),
        ] {
            assert_eq!(without_port(client.as_bytes()), left.as_bytes(), "{client}");
        }
        let entry = Entry {
            user: b"ann",
            database: b"shop",
            ..logged("x", "")
        };
        assert_eq!(who(&entry).as_deref(), Some("user ann, database shop"));
        let odd = Entry {
            application: b"load | nightly",
            ..logged("x", "")
        };
        assert_eq!(who(&odd).as_deref(), Some("application load / nightly"));
        assert_eq!(who(&logged("x", "")), None);
    }
}
