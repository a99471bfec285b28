//! What log_line_prefix may have been, from the prefix of one line.

use super::moment::{self, Zones};
use super::prefix::{BRACKETED, is_token};

/// User and database.
type Names<'a> = (&'a [u8], &'a [u8]);

/// The log_line_prefix that may have made a prefix; `known` are the user and database that the message names.
pub fn guess(prefix: &[u8], known: Option<Names>) -> String {
    let mut guess = Guess {
        prefix,
        known,
        at: 0,
        text: String::new(),
        zones: Zones::default(),
        moments: Vec::new(),
    };
    while guess.at < prefix.len() {
        let _ = guess.time() || guess.bracketed() || guess.word() || guess.sign();
    }
    guess.mark_moment();
    guess.text
}

struct Guess<'a> {
    prefix: &'a [u8],
    known: Option<Names<'a>>,
    at: usize,
    text: String,
    zones: Zones,
    /// Whether it has a fraction, the moment, and where its escape stands in the text.
    moments: Vec<(bool, i64, usize)>,
}

impl<'a> Guess<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.prefix[self.at..]
    }

    fn push(&mut self, escape: &str, length: usize) -> bool {
        self.text.push_str(escape);
        self.at += length;
        true
    }

    fn time(&mut self) -> bool {
        let rest = self.rest();
        if let Some((_, length)) = moment::epoch(rest) {
            return self.push("%n", length);
        }
        let Some((moment, length)) = moment::at_begin(rest, &mut self.zones) else {
            return false;
        };
        let exact = rest[..length].contains(&b'.');
        self.moments.push((exact, moment.local_us, self.text.len()));
        self.push("%s", length)
    }

    fn bracketed(&mut self) -> bool {
        let rest = self.rest();
        let Some(word) = BRACKETED.iter().find(|word| rest.starts_with(word)) else {
            return false;
        };
        let escape = named(&self.text, rest, word.len()).unwrap_or("%i");
        self.push(escape, word.len())
    }

    fn word(&mut self) -> bool {
        let rest = self.rest();
        if !is_token(rest[0]) || matches!(rest[0], b'.' | b'-') {
            return false;
        }
        let length = word_length(rest, self.known);
        let word = &rest[..length];
        if rest.get(length) == Some(&b'=') {
            return self.push(&String::from_utf8_lossy(word), length);
        }
        let escape = named(&self.text, rest, length).unwrap_or_else(|| self.escape_for(word));
        self.push(escape, length)
    }

    /// The escape of a word that nothing beside it explains.
    fn escape_for(&self, word: &[u8]) -> &'static str {
        match self.known {
            Some((user, database)) if word == user && (user != database || !self.text.contains("%u")) => "%u",
            Some((_, database)) if word == database => "%d",
            _ if word == b"00000" => "%e",
            _ => "%i",
        }
    }

    /// A sign, and after `=` and `@` a field that is not set.
    fn sign(&mut self) -> bool {
        let rest = self.rest();
        let sign = rest[0] as char;
        if sign == '%' {
            self.text.push('%');
        }
        self.text.push(sign);
        self.at += 1;
        let is_empty = rest.get(1).is_none_or(|after| !is_token(*after) && *after != b'[');
        if matches!(sign, '=' | '@') && is_empty {
            let escape = named(&self.text, b"", 0).unwrap_or("%i");
            self.push(escape, 0);
        }
        true
    }

    /// Of two moments the later one is that of the line: a session begins before. `%m` alone has milliseconds.
    fn mark_moment(&mut self) {
        let by_age = |moment: &&(bool, i64, usize)| (moment.0, moment.1);
        let of_line = self.moments.iter().rev().max_by_key(by_age);
        if let Some((_, _, at)) = of_line.filter(|_| !self.text.contains("%n")) {
            self.text.replace_range(*at..*at + 2, "%m");
        }
    }
}

/// User and database of `connection authorized: user=U database=D` and `disconnection: ...`.
pub fn known_names(message: &[u8]) -> Option<(&[u8], &[u8])> {
    if !message.starts_with(b"connection authorized:") && !message.starts_with(b"disconnection:") {
        return None;
    }
    let value = |key: &[u8]| {
        let begin = memchr::memmem::find(message, key)? + key.len();
        let length = message[begin..]
            .iter()
            .take_while(|byte| !byte.is_ascii_whitespace())
            .count();
        Some(&message[begin..begin + length])
    };
    Some((value(b" user=")?, value(b" database=")?))
}

/// Length of the word at the beginning: of a name that is known, else up to a sign that no name is likely to have.
fn word_length(text: &[u8], known: Option<Names>) -> usize {
    let ends_at = |length: usize| {
        text.get(length)
            .is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
    };
    let names = known.into_iter().flat_map(|(user, database)| [user, database]);
    let found = names
        .filter(|name| text.starts_with(name) && ends_at(name.len()))
        .map(<[u8]>::len)
        .max();
    found.unwrap_or_else(|| text.iter().take_while(|byte| is_token(**byte)).count())
}

/// The escape of a field whose key stands before it, or that stands before or behind an `@`.
fn named(before: &str, rest: &[u8], length: usize) -> Option<&'static str> {
    if before.ends_with('@') {
        return Some("%d");
    }
    if rest.get(length) == Some(&b'@') {
        return Some("%u");
    }
    let key = before.strip_suffix('=')?;
    let key = key
        .rsplit(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_')
        .next()?;
    Some(match key.to_ascii_lowercase().as_str() {
        "d" | "db" | "database" | "dbname" | "datname" => "%d",
        "u" | "user" | "usr" | "username" => "%u",
        "a" | "app" | "application" | "application_name" => "%a",
        "h" | "host" | "client" | "remote" | "r" => "%r",
        "e" | "state" | "sqlstate" | "code" | "err" | "error" => "%e",
        _ => "%i",
    })
}
