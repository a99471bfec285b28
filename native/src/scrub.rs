//! Takes every constant and comment out of a statement, and every value that the grammar lets stand without quotes.
//!
//! Names stay, values go: `SET app.token = secret`, `IDENTIFIED BY secret` and `OPTIONS (password "x")` hold no constant,
//! and what they hold is none the less a secret. Statements that the server refused are in its log as well: so whatever
//! stands where a value is due is taken for one, also where the grammar would not allow it.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::sql_tokens::{Kind, Tokens, is_space};

pub use crate::sql_tokens::Dialect;

/// Forms of SET in which names and keywords follow, and no value.
const SET_OF_NAMES: [&[u8]; 12] = [
    b"AUTHORIZATION",
    b"CHARACTER",
    b"CHARACTERISTICS",
    b"CHARSET",
    b"CONSTRAINT",
    b"CONSTRAINTS",
    b"DEFAULT",
    b"NAMES",
    b"ROLE",
    b"SCHEMA",
    b"TRANSACTION",
    b"XML",
];
/// What may stand between SET and the name of what is set.
const BEFORE_SETTING: [&[u8]; 8] = [
    b"FOR",
    b"GLOBAL",
    b"LOCAL",
    b"PASSWORD",
    b"PERSIST",
    b"PERSIST_ONLY",
    b"SESSION",
    b"STATEMENT",
];
/// What is altered by SET NAME = VALUE alone.
const HOLDS_SETTINGS: [&[u8]; 5] = [b"DATABASE", b"ROLE", b"SESSION", b"SYSTEM", b"USER"];
/// Behind IDENTIFIED, a secret follows these.
const BEFORE_SECRET: [&[u8]; 5] = [b"AS", b"BY", b"REPLACE", b"USING", b"VALUES"];
/// Where a secret is due, words that are none.
const NO_SECRET: [&[u8]; 7] = [
    b"EXPIRE",
    b"HISTORY",
    b"NULL",
    b"PASSWORD",
    b"RANDOM",
    b"REQUIRE",
    b"REUSE",
];
const ACCOUNTS: [&[u8]; 3] = [b"GROUP", b"ROLE", b"USER"];

/// Puts the statement on one line into `into`, with `?` for each constant.
pub fn scrub(text: &[u8], dialect: Dialect, into: &mut Vec<u8>) {
    into.clear();
    let mut scrubber = Scrubber {
        into,
        head: b"",
        second: b"",
        is_identified: false,
        due: Due::Anything,
    };
    for (kind, token) in Tokens::of(text, dialect) {
        scrubber.take(kind, token);
    }
    if into.last() == Some(&b' ') {
        into.pop();
    }
}

/// A statement without its constants; `dialect` is postgresql, mysql (MariaDB too) or oracle.
#[pyfunction]
pub fn scrubbed(text: &str, dialect: &str) -> PyResult<String> {
    let dialect = match dialect {
        "postgresql" => Dialect::Postgres,
        "mysql" => Dialect::MySql,
        "oracle" => Dialect::Oracle,
        _ => return Err(PyValueError::new_err(format!("no dialect: {dialect}"))),
    };
    let mut into = Vec::new();
    scrub(text.as_bytes(), dialect, &mut into);
    Ok(String::from_utf8_lossy(&into).into_owned())
}

/// A fingerprint of a scrubbed statement (FNV-1a, Fowler, Noll and Vo): the same on every machine.
pub fn fingerprint(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What the grammar lets follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Anything,
    /// Behind SET: the name of a setting; `is_named` when it was there.
    Setting {
        is_named: bool,
    },
    /// Values, up to the end of the statement; `is_said` when the mark for them stands.
    Values {
        is_said: bool,
    },
    /// One secret, up to the next space.
    Secret {
        is_said: bool,
    },
    /// Inside OPTIONS (...): a name, or its value.
    OptionName,
    OptionValue {
        is_said: bool,
    },
}

struct Scrubber<'a> {
    into: &'a mut Vec<u8>,
    /// The first two words of the statement.
    head: &'a [u8],
    second: &'a [u8],
    is_identified: bool,
    due: Due,
}

impl<'a> Scrubber<'a> {
    fn take(&mut self, kind: Kind, token: &'a [u8]) {
        if token == b";" {
            (self.head, self.second, self.is_identified) = (b"", b"", false);
            self.due = Due::Anything;
            self.into.push(b';');
            return;
        }
        match self.due {
            Due::Anything => self.plain(kind, token),
            Due::Setting { is_named } => self.setting(kind, token, is_named),
            Due::Values { is_said } => self.values(kind, is_said),
            Due::Secret { is_said } => self.secret(kind, token, is_said),
            Due::OptionName | Due::OptionValue { .. } => self.option(kind, token),
        }
    }

    fn plain(&mut self, kind: Kind, token: &'a [u8]) {
        match kind {
            Kind::Space => self.space(),
            Kind::Constant => self.into.push(b'?'),
            Kind::Name => self.name(token),
            Kind::Sign => self.into.extend_from_slice(token),
            Kind::Word => {
                self.into.extend_from_slice(token);
                self.due = self.after(token);
                if self.head.is_empty() {
                    self.head = token;
                } else if self.second.is_empty() {
                    self.second = token;
                }
            }
        }
    }

    /// What is due behind a word.
    fn after(&mut self, word: &[u8]) -> Due {
        let defines = is_one(self.head, &[b"ALTER", b"CREATE"]);
        let is_account = defines && is_one(self.second, &ACCOUNTS);
        self.is_identified |= is_one(word, &[b"IDENTIFIED"]);
        if is_one(word, &[b"SET"]) && (defines || self.head.is_empty()) {
            Due::Setting { is_named: false }
        } else if self.is_identified && is_one(word, &BEFORE_SECRET)
            || is_account && is_one(word, &[b"PASSWORD"])
            || defines && is_one(self.second, &[b"SUBSCRIPTION"]) && is_one(word, &[b"CONNECTION"])
        {
            Due::Secret { is_said: false }
        } else if is_one(word, &[b"OPTIONS"]) && (defines || is_one(self.head, &[b"IMPORT"])) {
            Due::OptionName
        } else {
            Due::Anything
        }
    }

    /// `SESSION app.token =`: up to the sign or TO all is the setting's name.
    fn setting(&mut self, kind: Kind, token: &'a [u8], is_named: bool) {
        let is_word = kind == Kind::Word;
        let goes_on = !self.into.ends_with(b" ") || matches!(token, b"." | b"@");
        let is_set = is_one(self.head, &[b"SET"]);
        if (is_named || is_set) && (token == b"=" || is_word && is_one(token, &[b"TO"])) {
            self.into.extend_from_slice(token);
            self.due = Due::Values { is_said: false };
        } else if kind == Kind::Space {
            self.space();
        } else if is_word && !is_named && is_one(token, &SET_OF_NAMES) {
            self.due = Due::Anything;
            self.plain(kind, token);
        } else if matches!(token, b"." | b"@" | b":") || is_word && is_one(token, &BEFORE_SETTING) {
            self.into.extend_from_slice(token);
        } else if matches!(kind, Kind::Word | Kind::Name) && (!is_named || goes_on) {
            self.name(token);
            self.due = Due::Setting { is_named: true };
        } else if is_set || is_one(self.second, &HOLDS_SETTINGS) {
            self.values(kind, false);
        } else {
            self.due = Due::Anything;
            self.plain(kind, token);
        }
    }

    fn values(&mut self, kind: Kind, is_said: bool) {
        if is_said {
            return;
        }
        if kind == Kind::Space {
            return self.space();
        }
        self.into.push(b'?');
        self.due = Due::Values { is_said: true };
    }

    fn secret(&mut self, kind: Kind, token: &'a [u8], is_said: bool) {
        if kind == Kind::Space {
            self.space();
            if is_said {
                self.due = Due::Anything;
            }
        } else if !is_said && kind == Kind::Word && is_one(token, &[b"VALUES", b"PASSWORD", b"BY"]) {
            self.into.extend_from_slice(token);
        } else if !is_said && kind == Kind::Word && is_one(token, &NO_SECRET) {
            self.due = Due::Anything;
            self.plain(kind, token);
        } else if !is_said {
            self.into.push(b'?');
            let is_whole = kind == Kind::Constant && token.ends_with(b"'");
            self.due = if is_whole {
                Due::Anything
            } else {
                Due::Secret { is_said: true }
            };
        }
    }

    /// `(ADD name 'value', name 'value')`.
    fn option(&mut self, kind: Kind, token: &'a [u8]) {
        match (self.due, kind) {
            (_, Kind::Sign) if matches!(token, b"(" | b"," | b")") => {
                self.into.extend_from_slice(token);
                self.due = if token == b")" { Due::Anything } else { Due::OptionName };
            }
            (_, Kind::Space) => self.space(),
            (Due::OptionName, Kind::Word | Kind::Name) => {
                self.name(token);
                if !is_one(token, &[b"ADD", b"SET", b"DROP"]) {
                    self.due = Due::OptionValue { is_said: false };
                }
            }
            (Due::OptionValue { is_said: true }, _) => {}
            _ => {
                self.into.push(b'?');
                self.due = Due::OptionValue { is_said: true };
            }
        }
    }

    fn space(&mut self) {
        if self.into.last().is_some_and(|last| *last != b' ') {
            self.into.push(b' ');
        }
    }

    fn name(&mut self, token: &[u8]) {
        for byte in token {
            if is_space(*byte) {
                self.space();
            } else {
                self.into.push(*byte);
            }
        }
    }
}

fn is_one(word: &[u8], of: &[&[u8]]) -> bool {
    of.iter().any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubbed(text: &str, dialect: Dialect) -> String {
        let mut into = Vec::new();
        scrub(text.as_bytes(), dialect, &mut into);
        String::from_utf8(into).unwrap()
    }

    // What is taken out, case by case, is in tests/dataset/test_scrub.py.
    #[test]
    fn every_begin_of_a_text_ends() {
        let text = "SELECT 'a''b\\', E'\\'', $x$ y $x$ \"n\" /* c */ -- d\n U&'e' 0x1f .5 a.5 $1 `f`; SET a.b = c, q'[d]'; \
                    CREATE USER u IDENTIFIED BY p REPLACE \"o\" OPTIONS (SET x 'y', z)";
        for dialect in [Dialect::Postgres, Dialect::MySql, Dialect::Oracle] {
            for end in 0..text.len() {
                scrubbed(&text[..end], dialect);
            }
        }
    }
}
