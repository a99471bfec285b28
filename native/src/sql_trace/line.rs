//! One line of an extended SQL trace, taken apart.

use memchr::{memchr, memmem};

/// What a line says.
#[derive(Debug, PartialEq)]
pub enum Line<'a> {
    /// `WAIT #7: nam='db file sequential read' ela= 977 ... tim=1`
    Wait {
        cursor: i64,
        event: &'a [u8],
        elapsed: u64,
        tim: Option<i64>,
    },
    /// A wait that is cut off.
    BadWait,
    /// `EXEC #7:c=0,e=42,p=0,cr=0,cu=0,mis=0,r=0,dep=1,og=1,plh=1,tim=1`
    Call(Call<'a>),
    /// `PARSING IN CURSOR #7 len=74 dep=1 ... sqlid='309mwpa4tk161'`
    Parsing {
        cursor: i64,
        id: &'a [u8],
        tim: Option<i64>,
    },
    /// `ERROR #7:err=1555 tim=1`, `PARSE ERROR #7:len=9 dep=0 ... err=942`
    Error {
        cursor: i64,
        code: u32,
        is_parse: bool,
        tim: Option<i64>,
    },
    /// `XCTEND rlbk=0, rd_only=0, tim=1`
    End {
        is_rollback: bool,
        is_read_only: bool,
        tim: Option<i64>,
    },
    Deadlock,
    /// `*** 2013-08-26 14:40:23.035`, `*** MODULE NAME:(SQL*Plus) 2013-08-26 14:40:23.035`
    Stars,
    EndOfStatement,
    /// Anything else: values, texts, plans.
    Other,
}

#[derive(Debug, PartialEq, Clone, Copy)]
pub enum Kind {
    Parse,
    Exec,
    Fetch,
    /// CLOSE, UNMAP, SORT UNMAP: time, but no work of its own.
    Rest,
}

#[derive(Debug, PartialEq)]
pub struct Call<'a> {
    pub kind: Kind,
    pub cursor: i64,
    pub tim: Option<i64>,
    fields: &'a [u8],
}

impl Call<'_> {
    /// A figure by its key, as `cr`; none where the line has none of that key.
    pub fn figure(&self, key: &[u8]) -> Option<u64> {
        self.fields.split(|byte| *byte == b',').find_map(|field| {
            let at = memchr(b'=', field)?;
            (&field[..at] == key).then(|| digits(&field[at + 1..]))?
        })
    }
}

const CALLS: [(&[u8], Kind); 6] = [
    (b"EXEC #", Kind::Exec),
    (b"FETCH #", Kind::Fetch),
    (b"PARSE #", Kind::Parse),
    (b"CLOSE #", Kind::Rest),
    (b"UNMAP #", Kind::Rest),
    (b"SORT UNMAP #", Kind::Rest),
];

/// Takes a line apart, which has no line end any more.
pub fn parse(line: &[u8]) -> Line<'_> {
    if let Some(rest) = line.strip_prefix(b"WAIT #") {
        return wait(rest).unwrap_or(Line::BadWait);
    }
    for (begin, kind) in CALLS {
        if let Some(call) = line.strip_prefix(begin).and_then(|rest| call(rest, kind)) {
            return Line::Call(call);
        }
    }
    other(line).unwrap_or(Line::Other)
}

fn wait(rest: &[u8]) -> Option<Line<'_>> {
    let (cursor, rest) = cursor(rest)?;
    let rest = rest.strip_prefix(b": nam='")?;
    let end = memchr(b'\'', rest)?;
    let after = rest[end + 1..].strip_prefix(b" ela=")?;
    let elapsed = after.strip_prefix(b" ").unwrap_or(after);
    Some(Line::Wait {
        cursor,
        event: &rest[..end],
        elapsed: digits(elapsed)?,
        tim: tim(after),
    })
}

fn call(rest: &[u8], kind: Kind) -> Option<Call<'_>> {
    let (cursor, rest) = cursor(rest)?;
    let fields = rest.strip_prefix(b":")?;
    Some(Call {
        kind,
        cursor,
        tim: tim(fields),
        fields,
    })
}

/// `LOBREAD: type=PERSISTENT LOB,bytes=10,c=0,e=12,p=0,cr=1,cu=0,tim=1`: of no cursor.
fn lob(line: &[u8]) -> Option<Call<'_>> {
    let fields = &line[memchr(b':', line)? + 1..];
    let fields = fields.strip_prefix(b" ").unwrap_or(fields);
    memmem::find(fields, b"e=")?;
    Some(Call {
        kind: Kind::Rest,
        cursor: -1,
        tim: tim(fields),
        fields,
    })
}

fn other(line: &[u8]) -> Option<Line<'_>> {
    if line.starts_with(b"***") {
        return Some(Line::Stars);
    }
    if line == b"END OF STMT" {
        return Some(Line::EndOfStatement);
    }
    if line.starts_with(b"LOB") {
        return lob(line).map(Line::Call);
    }
    if line.starts_with(b"DEADLOCK DETECTED") {
        return Some(Line::Deadlock);
    }
    if let Some(rest) = line.strip_prefix(b"PARSING IN CURSOR #") {
        let (cursor, rest) = cursor(rest)?;
        let id = quoted(rest, b"sqlid='").or_else(|| word(rest, b" hv="))?;
        let tim = tim(rest);
        return Some(Line::Parsing { cursor, id, tim });
    }
    if let Some(rest) = line.strip_prefix(b"XCTEND rlbk=") {
        return Some(Line::End {
            is_rollback: rest.first() == Some(&b'1'),
            is_read_only: word(rest, b"rd_only=").is_some_and(|flag| flag.starts_with(b"1")),
            tim: tim(rest),
        });
    }
    let is_parse = line.starts_with(b"PARSE ERROR #");
    let rest = line
        .strip_prefix(b"PARSE ".as_slice())
        .filter(|_| is_parse)
        .unwrap_or(line);
    let (cursor, rest) = cursor(rest.strip_prefix(b"ERROR #")?)?;
    Some(Line::Error {
        cursor,
        code: u32::try_from(digits(word(rest, b"err=")?)?).ok()?,
        is_parse,
        tim: tim(rest),
    })
}

/// A cursor's number, which may be negative, and what follows.
fn cursor(rest: &[u8]) -> Option<(i64, &[u8])> {
    let (negative, rest) = rest.strip_prefix(b"-").map_or((false, rest), |rest| (true, rest));
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = i64::try_from(digits(rest)?).ok()?;
    Some((if negative { -number } else { number }, &rest[length..]))
}

/// The number that a text begins with; none where it begins with none, or with one too large.
pub fn digits(text: &[u8]) -> Option<u64> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 || length > 19 {
        return None;
    }
    text[..length].iter().try_fold(0u64, |number, byte| {
        number.checked_mul(10)?.checked_add(u64::from(byte - b'0'))
    })
}

/// `tim=`, the last of a line's keys.
fn tim(rest: &[u8]) -> Option<i64> {
    let at = memmem::rfind(rest, b"tim=")?;
    digits(&rest[at + 4..]).and_then(|tim| i64::try_from(tim).ok())
}

fn word<'a>(rest: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let begin = memmem::find(rest, key)? + key.len();
    let value = &rest[begin..];
    Some(
        &value[..value
            .iter()
            .position(|byte| b" ,".contains(byte))
            .unwrap_or(value.len())],
    )
}

fn quoted<'a>(rest: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let begin = memmem::find(rest, key)? + key.len();
    let value = &rest[begin..];
    Some(&value[..memchr(b'\'', value)?])
}

/// `*** MODULE NAME:(SQL*Plus) 2013-08-26 14:40:23.035`: what is named, and its name; none where it is empty.
pub fn name(line: &[u8]) -> Option<(&'static str, &[u8])> {
    let (kind, rest) = match line.strip_prefix(b"*** MODULE NAME:(") {
        Some(rest) => ("module", rest),
        None => ("action", line.strip_prefix(b"*** ACTION NAME:(")?),
    };
    let name = &rest[..memmem::rfind(rest, b")")?];
    (!name.is_empty()).then_some((kind, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_has_event_and_time() {
        let line =
            b"WAIT #-46929: nam='db file sequential read' ela= 977 file#=7 block#=2 obj#=82015 tim=1377520823036634";
        assert_eq!(
            parse(line),
            Line::Wait {
                cursor: -46929,
                event: b"db file sequential read",
                elapsed: 977,
                tim: Some(1377520823036634)
            }
        );
        assert_eq!(parse(b"WAIT #1: nam='cut off"), Line::BadWait);
    }

    #[test]
    fn a_call_has_figures_by_their_keys() {
        let Line::Call(call) = parse(b"FETCH #140:c=10,e=42,p=3,cr=5,cu=1,mis=0,r=7,dep=1,og=1,plh=14,tim=9") else {
            panic!("not taken for a call");
        };
        assert_eq!((call.kind, call.cursor, call.tim), (Kind::Fetch, 140, Some(9)));
        assert_eq!(
            [b"c".as_slice(), b"cr", b"r", b"plh", b"x"].map(|key| call.figure(key)),
            [Some(10), Some(5), Some(7), Some(14), None]
        );
    }

    #[test]
    fn the_rest() {
        assert_eq!(
            parse(b"PARSE ERROR #2:len=33 dep=0 uid=84 oct=3 lid=84 tim=5 err=942"),
            Line::Error {
                cursor: 2,
                code: 942,
                is_parse: true,
                tim: Some(5)
            }
        );
        assert_eq!(
            parse(b"ERROR #2:err=1555 tim=5"),
            Line::Error {
                cursor: 2,
                code: 1555,
                is_parse: false,
                tim: Some(5)
            }
        );
        assert_eq!(
            parse(b"XCTEND rlbk=0, rd_only=1, tim=5"),
            Line::End {
                is_rollback: false,
                is_read_only: true,
                tim: Some(5)
            }
        );
        assert_eq!(
            parse(b"PARSING IN CURSOR #1 len=4 dep=0 uid=0 oct=3 lid=0 tim=8 hv=2308506817 ad='65fba94d8' sqlid='309mwpa4tk161'"),
            Line::Parsing { cursor: 1, id: b"309mwpa4tk161", tim: Some(8) }
        );
    }

    #[test]
    fn names_are_in_brackets() {
        assert_eq!(
            name(b"*** MODULE NAME:(app (v1)) 2013-08-26 14:40:23.035"),
            Some(("module", &b"app (v1)"[..]))
        );
        assert_eq!(name(b"*** ACTION NAME:() 2013-08-26 14:40:23.035"), None);
    }

    #[test]
    fn no_line_makes_it_fail() {
        for line in [
            &b"WAIT #"[..],
            b"EXEC #",
            b"EXEC #1",
            b"ERROR #1:",
            b"PARSING IN CURSOR #1",
            b"XCTEND rlbk=",
            b"",
        ] {
            parse(line);
        }
        assert_eq!(digits(b"99999999999999999999"), None);
    }
}
