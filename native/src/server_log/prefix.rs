//! What stands before the severity in each line of a PostgreSQL log: log_line_prefix, found out from the lines.
//!
//! The moment, the database and the SQLSTATE are looked for. Each sampled prefix is turned into what
//! log_line_prefix may have been (`%m [%p] %u@%d `); lines are then held against the patterns that many samples gave. A
//! line that fits none still has its moment.

use std::collections::BTreeMap;

use super::moment::{self, Moment, Zones};
use super::prefixes::{guess, known_names};

/// Patterns that are kept: background processes, clients by application, and what was changed meanwhile.
const MOST_PATTERNS: usize = 12;
const NOT_SET: &[u8] = b"[unknown]";
/// Hosts and applications that brackets belong to.
pub const BRACKETED: [&[u8]; 2] = [b"[local]", NOT_SET];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Moment,
    Epoch,
    SessionStart,
    Database,
    SqlState,
    User,
    Application,
    Client,
    Process,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(Vec<u8>),
    Field(Field),
}

/// What a prefix says; what it does not say is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prefix<'a> {
    pub moment: Option<Moment>,
    pub database: &'a [u8],
    pub sqlstate: &'a [u8],
    pub user: &'a [u8],
    pub application: &'a [u8],
    pub client: &'a [u8],
    /// The number of the process that wrote the line, where the prefix was set.
    pub process: &'a [u8],
}

/// A log_line_prefix, as far as anything in it is of use.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern(Vec<Piece>);

#[derive(Clone, Debug, Default)]
pub struct Patterns {
    known: Vec<Pattern>,
    /// No line among the first has a time: the whole is taken as one, of which only sums are told.
    pub is_untimed: bool,
}

impl Patterns {
    /// From prefixes with the user and database that the message of their line names, and settings of log_line_prefix.
    pub fn infer<'a>(samples: impl Iterator<Item = (&'a [u8], &'a [u8])>, set: &[String]) -> Self {
        let mut votes: BTreeMap<String, (bool, usize)> = BTreeMap::new();
        let (mut lines, mut has_time) = (0, false);
        for (prefix, message) in samples {
            lines += 1;
            has_time = has_time || any_moment(prefix, &mut Zones::default()).is_some();
            let known = known_names(message);
            let vote = votes.entry(guess(prefix, known)).or_default();
            *vote = (vote.0 || known.is_some(), vote.1 + 1);
        }
        let mut ranked: Vec<_> = votes.into_iter().collect();
        // What messages bear out first, then what names a database, then what is frequent.
        ranked.sort_by_key(|(text, (known, votes))| {
            std::cmp::Reverse((*known && text.contains("%d"), text.contains("%d"), *votes))
        });
        let guessed = ranked.iter().map(|(text, _)| text).take(MOST_PATTERNS);
        let known = set.iter().chain(guessed);
        Self {
            known: known.map(|text| Pattern::of(text.as_bytes(), false)).collect(),
            is_untimed: lines > 0 && !has_time,
        }
    }

    /// As the server itself says that log_line_prefix is set; the lines need no time then, and who looks while it
    /// writes can ask whose a process is.
    pub fn set(prefix: &str) -> Self {
        Self {
            known: vec![Pattern::of(prefix.as_bytes(), true)],
            is_untimed: true,
        }
    }

    pub fn read<'a>(&self, prefix: &'a [u8], zones: &mut Zones) -> Prefix<'a> {
        let found = self.known.iter().find_map(|pattern| pattern.read(prefix, zones));
        found.filter(|found| found.moment.is_some()).unwrap_or_else(|| Prefix {
            moment: any_moment(prefix, zones),
            ..found.unwrap_or_default()
        })
    }
}

impl Pattern {
    /// The pieces of a log_line_prefix, up to the sign after the last that is of use.
    fn of(text: &[u8], is_live: bool) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let escape = if text[at] == b'%' { escape_at(&text[at..]) } else { None };
            match escape {
                Some((b'q', length)) => at += length,
                Some((letter, length)) if letter != b'%' => {
                    pieces.push(Piece::Field(field_of(letter, is_live)));
                    at += length;
                }
                other => {
                    match pieces.last_mut() {
                        Some(Piece::Literal(literal)) => literal.push(text[at]),
                        _ => pieces.push(Piece::Literal(vec![text[at]])),
                    }
                    at += other.map_or(1, |(_, length)| length);
                }
            }
        }
        let is_of_use = |piece: &Piece| matches!(piece, Piece::Field(field) if *field != Field::Other);
        let end = pieces.iter().rposition(is_of_use).map_or(0, |last| last + 1);
        if let Some(Piece::Literal(literal)) = pieces.get_mut(end) {
            literal.truncate(1);
        }
        pieces.truncate(end + 1);
        Self(pieces)
    }

    fn read<'a>(&self, text: &'a [u8], zones: &mut Zones) -> Option<Prefix<'a>> {
        let mut found = Prefix::default();
        let mut at = 0;
        for (number, piece) in self.0.iter().enumerate() {
            at += match piece {
                // After `%q` nothing follows of background processes.
                Piece::Literal(_) if at == text.len() && found.moment.is_some() => return Some(found),
                Piece::Literal(literal) if text[at..].starts_with(literal) => literal.len(),
                Piece::Literal(_) if found.moment.is_some() && self.tells_who(number) => return Some(found),
                Piece::Literal(_) => return None,
                Piece::Field(field) => match found.take(*field, &text[at..], self.0.get(number + 1), zones) {
                    Some(length) => length,
                    // What only tells who it was, at the end, may be written in ways of its own.
                    None if found.moment.is_some() && self.tells_who(number) => return Some(found),
                    None => return None,
                },
            };
        }
        Some(found)
    }

    /// Whether nothing but who it was is told from a piece on.
    fn tells_who(&self, from: usize) -> bool {
        let who = [
            Field::User,
            Field::Application,
            Field::Client,
            Field::Process,
            Field::Other,
        ];
        let is_who = |piece: &Piece| matches!(piece, Piece::Literal(_)) || who.map(Piece::Field).contains(piece);
        self.0[from..].iter().all(is_who)
    }
}

impl<'a> Prefix<'a> {
    /// Takes a field from the beginning of a text; its length.
    fn take(&mut self, field: Field, text: &'a [u8], next: Option<&Piece>, zones: &mut Zones) -> Option<usize> {
        match field {
            Field::Moment | Field::SessionStart => {
                let (moment, length) = moment::at_begin(text, zones)?;
                if field == Field::Moment {
                    self.moment = Some(moment);
                }
                return Some(length);
            }
            Field::Epoch => {
                let (local_us, length) = moment::epoch(text)?;
                self.moment = Some(Moment { local_us, zone: 0 });
                return Some(length);
            }
            _ => {}
        }
        let length = field_length(text, next)?;
        let value = &text[..length];
        match field {
            Field::Database if value != NOT_SET => self.database = value,
            Field::SqlState if value.len() != 5 => return None,
            Field::SqlState => self.sqlstate = value,
            Field::User if value != NOT_SET => self.user = value,
            Field::Application if value != NOT_SET => self.application = value,
            Field::Client => self.client = value,
            Field::Process if !value.iter().all(u8::is_ascii_digit) => return None,
            Field::Process => self.process = value,
            _ => {}
        }
        Some(length)
    }
}

fn field_length(text: &[u8], next: Option<&Piece>) -> Option<usize> {
    let bracketed = BRACKETED
        .iter()
        .find(|word| text.starts_with(word))
        .map_or(0, |word| word.len());
    match next {
        None => Some(text.len()),
        Some(Piece::Literal(literal)) => {
            let found = memchr::memmem::find(&text[bracketed..], literal);
            // Between fields that are not set nothing is left, after the last one not even a space.
            found.map(|found| bracketed + found)
        }
        Some(Piece::Field(_)) => {
            let word = text[bracketed..].iter().take_while(|byte| is_token(**byte)).count();
            Some(bracketed + word)
        }
    }
}

fn field_of(letter: u8, is_live: bool) -> Field {
    match letter {
        b'm' | b't' => Field::Moment,
        b'n' => Field::Epoch,
        b's' => Field::SessionStart,
        b'd' => Field::Database,
        b'e' => Field::SqlState,
        b'u' => Field::User,
        b'a' => Field::Application,
        b'h' | b'r' => Field::Client,
        b'p' if is_live => Field::Process,
        _ => Field::Other,
    }
}

/// The letter and length of `%p` or `%-10p`.
fn escape_at(text: &[u8]) -> Option<(u8, usize)> {
    let padding = text[1..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'-')
        .count();
    text.get(1 + padding).map(|letter| (*letter, 2 + padding))
}

/// Whether names of users, databases and applications mostly consist of such.
pub fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') || byte >= 0x80
}

/// The first moment anywhere in a text.
fn any_moment(text: &[u8], zones: &mut Zones) -> Option<Moment> {
    (0..text.len()).filter(|at| text[*at].is_ascii_digit()).find_map(|at| {
        let rest = &text[at..];
        let exact = || moment::epoch(rest).map(|(local_us, _)| Moment { local_us, zone: 0 });
        moment::at_begin(rest, zones).map(|(moment, _)| moment).or_else(exact)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUTHORIZED: &[u8] = b"connection authorized: user=ann database=shop application_name=psql";

    fn read(samples: &[(&str, &[u8])], prefix: &str) -> (i64, String, String) {
        let pairs = samples.iter().map(|(prefix, message)| (prefix.as_bytes(), *message));
        let patterns = Patterns::infer(pairs, &[]);
        let found = patterns.read(prefix.as_bytes(), &mut Zones::default());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let second = found.moment.unwrap().local_us / 1_000_000 % 60;
        (second, text(found.database), text(found.sqlstate))
    }

    #[test]
    fn prefixes_are_found_out() {
        for (client, background) in [
            (
                "2026-11-20 22:44:50.934 UTC [15799] ann@shop ",
                "2026-11-20 22:44:50.934 UTC [15799] ",
            ),
            (
                "2026-11-20 22:44:50.934 UTC [15799]: user=ann,db=shop,app=psql,client=[local] ",
                "2026-11-20 22:44:50.934 UTC [15799]: user=,db=,app=,client= ",
            ),
            (
                "2026-11-20 22:44:50 UTC:10.0.0.1(53422):ann@shop:[15799]:",
                "2026-11-20 22:44:50 UTC::@:[15799]:",
            ),
            ("1795214690.934|15799|ann|shop|", "1795214690.934|15799|||"),
            (
                "ann shop 2026-11-20 22:44:50 CET 15799 7 ",
                "  2026-11-20 22:44:50 CET 15799 3 ",
            ),
            (
                "<2026-11-20 22:44:50.934 UTC ann shop 15799 2026-11-20 20:00:00 UTC>",
                "<2026-11-20 22:44:50.934 UTC   15799 2026-11-20 20:00:00 UTC>",
            ),
        ] {
            let samples = [(client, AUTHORIZED), (background, &b"checkpoint starting: time"[..])];
            assert_eq!(read(&samples, client).0, 50, "{client}");
            assert_eq!(read(&samples, client).1, "shop", "{client}");
            assert_eq!(read(&samples, background).0, 50, "{background}");
            assert_eq!(read(&samples, background).1, "", "{background}");
        }
    }

    #[test]
    fn a_line_that_fits_nothing_has_its_moment() {
        let patterns = Patterns::infer(std::iter::empty(), &[]);
        let found = patterns.read(b"?? 2026-11-20 22:44:50 UTC ??", &mut Zones::default());
        assert_eq!(found.moment.unwrap().local_us, 1_795_214_690_000_000);
    }

    #[test]
    fn a_prefix_that_was_set_is_used() {
        let patterns = Patterns::infer(std::iter::empty(), &["%m [%p-%l] %e %q%a|%d ".to_string()]);
        let text = b"2026-11-20 22:44:50.934 UTC [12-3] 42P01 my app|shop ";
        let found = patterns.read(text, &mut Zones::default());
        assert_eq!((found.database, found.sqlstate), (&b"shop"[..], &b"42P01"[..]));
    }

    #[test]
    fn whose_process_it_is_can_be_asked_of_a_server_that_set_its_prefix() {
        let patterns = Patterns::set("%m [%p] ");
        let found = patterns.read(b"2026-11-20 22:44:50.934 UTC [12] ", &mut Zones::default());
        assert_eq!(found.process, b"12");
        let patterns = Patterns::set("%p: %u ");
        let found = patterns.read(b"12: ann ", &mut Zones::default());
        assert_eq!((found.process, found.user), (&b"12"[..], &b"ann"[..]));
    }
}
