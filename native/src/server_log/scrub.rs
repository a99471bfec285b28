//! Takes every constant and comment out of a statement: for PostgreSQL exactly as `doctord.chart.scrub` does, with
//! letters beyond ASCII taken for letters; for MySQL with its own strings and comments.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Postgres,
    MySql,
}

/// Puts the statement on one line into `into`, with `?` for each constant.
pub fn scrub(text: &[u8], dialect: Dialect, into: &mut Vec<u8>) {
    into.clear();
    let mut scrubber = Scrubber { text, at: 0, into };
    while scrubber.at < text.len() {
        match dialect {
            Dialect::Postgres => scrubber.postgres(),
            Dialect::MySql => scrubber.mysql(),
        }
    }
    if into.last() == Some(&b' ') {
        into.pop();
    }
}

/// A fingerprint of a scrubbed statement (FNV-1a, Fowler, Noll and Vo): the same on every machine.
pub fn fingerprint(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

struct Scrubber<'a> {
    text: &'a [u8],
    at: usize,
    into: &'a mut Vec<u8>,
}

impl Scrubber<'_> {
    fn postgres(&mut self) {
        match self.text[self.at] {
            b'\'' => self.postgres_quote(),
            b'"' => self.name(b'"'),
            b'/' if self.next() == Some(b'*') => self.block_comment(true),
            b'-' if self.next() == Some(b'-') => self.line_comment(),
            b'$' if self.next().is_some_and(|next| !next.is_ascii_digit()) => self.dollar(),
            _ => self.plain(Dialect::Postgres),
        }
    }

    fn mysql(&mut self) {
        match self.text[self.at] {
            quote @ (b'\'' | b'"') => {
                let end = self.escaped_end(self.at + 1, quote);
                self.constant(end);
            }
            b'`' => self.name(b'`'),
            b'/' if self.next() == Some(b'*') => self.block_comment(false),
            b'-' if self.next() == Some(b'-') => self.line_comment(),
            b'#' => self.line_comment(),
            _ => self.plain(Dialect::MySql),
        }
    }

    fn next(&self) -> Option<u8> {
        self.text.get(self.at + 1).copied()
    }

    fn constant(&mut self, end: usize) {
        self.into.push(b'?');
        self.at = end;
    }

    fn space(&mut self) {
        if self.into.last().is_some_and(|last| *last != b' ') {
            self.into.push(b' ');
        }
    }

    /// Words, numbers, spaces and signs.
    fn plain(&mut self, dialect: Dialect) {
        let byte = self.text[self.at];
        if is_space(byte) {
            self.at += 1;
            self.space();
        } else if is_word(byte) || byte == b'.' {
            self.word(dialect);
        } else {
            self.into.push(byte);
            self.at += 1;
        }
    }

    fn word(&mut self, dialect: Dialect) {
        let text = self.text;
        let before = self.at.checked_sub(1).map(|at| text[at]);
        let follows = before.is_some_and(|byte| is_word(byte) || matches!(byte, b'$' | b'.'));
        let digit_at = self.at + usize::from(text[self.at] == b'.');
        if !follows && text.get(digit_at).is_some_and(u8::is_ascii_digit) {
            let rest = text[digit_at..].iter();
            let end = digit_at + rest.take_while(|byte| is_word(**byte) || **byte == b'.').count();
            return self.constant(end);
        }
        if text[self.at] == b'.' {
            self.into.push(b'.');
            self.at += 1;
            return;
        }
        let end = self.at + text[self.at..].iter().take_while(|byte| is_word(**byte)).count();
        if let Some(after) = self.prefixed_string(end, dialect) {
            return self.constant(after);
        }
        self.into.extend_from_slice(&text[self.at..end]);
        self.at = end;
    }

    /// The end of a string whose prefix is the word that ends at `end`.
    fn prefixed_string(&self, end: usize, dialect: Dialect) -> Option<usize> {
        let word = &self.text[self.at..end];
        let after = &self.text[end..];
        match word {
            b"U" | b"u" if after.starts_with(b"&'") => Some(self.doubled_end(end + 2, b'\'')),
            b"E" | b"e" if after.starts_with(b"'") && dialect == Dialect::Postgres => {
                Some(self.escaped_end(end + 1, b'\''))
            }
            b"B" | b"b" | b"X" | b"x" | b"N" | b"n" if after.starts_with(b"'") => Some(match dialect {
                Dialect::Postgres => self.doubled_end(end + 1, b'\''),
                Dialect::MySql => self.escaped_end(end + 1, b'\''),
            }),
            _ => None,
        }
    }

    /// A string without a prefix: where a backslash stands before a quote, its end depends on the server's settings.
    fn postgres_quote(&mut self) {
        let mut at = self.at + 1;
        while at < self.text.len() {
            match (self.text[at], self.text.get(at + 1)) {
                (b'\'', Some(b'\'')) => at += 2,
                (b'\'', _) => break,
                (b'\\', Some(b'\'')) => return self.constant(self.text.len()),
                (b'\\', Some(_)) => at += 2,
                _ => at += 1,
            }
        }
        let end = self.doubled_end(self.at + 1, b'\'');
        self.constant(end);
    }

    fn name(&mut self, quote: u8) {
        let end = self.doubled_end(self.at + 1, quote);
        for byte in &self.text[self.at..end] {
            if is_space(*byte) {
                self.space();
            } else {
                self.into.push(*byte);
            }
        }
        self.at = end;
    }

    /// Comments that nest are closed differently from server to server: all of the rest is taken for a constant.
    fn block_comment(&mut self, may_nest: bool) {
        let inner = &self.text[self.at + 2..];
        let close = memchr::memmem::find(inner, b"*/");
        let open = memchr::memmem::find(inner, b"/*").filter(|_| may_nest);
        if open.is_some_and(|open| close.is_none_or(|close| open < close)) {
            return self.constant(self.text.len());
        }
        self.at = close.map_or(self.text.len(), |close| self.at + 2 + close + 2);
        self.space();
    }

    fn line_comment(&mut self) {
        let end = memchr::memchr(b'\n', &self.text[self.at..]);
        self.at = end.map_or(self.text.len(), |end| self.at + end);
        self.space();
    }

    /// `$tag$ ... $tag$`; behind `$$` all is taken for a constant; anything else that begins with a dollar is a sign.
    fn dollar(&mut self) {
        let text = self.text;
        let before = self.at.checked_sub(1).map(|at| text[at]);
        let inner = &text[self.at + 1..];
        let length = inner.iter().take_while(|byte| is_word(**byte)).count();
        if before.is_some_and(|byte| is_word(byte) || byte == b'$') || inner.get(length) != Some(&b'$') {
            self.into.push(b'$');
            self.at += 1;
            return;
        }
        let tag = &text[self.at..self.at + length + 2];
        let body = self.at + tag.len();
        let close = memchr::memmem::find(&text[body..], tag).filter(|_| length > 0);
        self.constant(close.map_or(text.len(), |close| body + close + tag.len()));
    }

    fn doubled_end(&self, mut at: usize, quote: u8) -> usize {
        while let Some(found) = memchr::memchr(quote, &self.text[at..]) {
            at += found + 1;
            if self.text.get(at) != Some(&quote) {
                return at;
            }
            at += 1;
        }
        self.text.len()
    }

    fn escaped_end(&self, mut at: usize, quote: u8) -> usize {
        while let Some(found) = memchr::memchr2(quote, b'\\', &self.text[at..]) {
            at += found + 1;
            if self.text[at - 1] == quote && self.text.get(at) != Some(&quote) {
                return at;
            }
            at = (at + 1).min(self.text.len());
        }
        self.text.len()
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0d | 0x1c..=0x1f)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubbed(text: &str, dialect: Dialect) -> String {
        let mut into = Vec::new();
        scrub(text.as_bytes(), dialect, &mut into);
        String::from_utf8(into).unwrap()
    }

    #[test]
    fn constants_of_postgresql_go() {
        for (text, left) in [
            (
                "SELECT 1, 'it''s', E'a\\'b', $1, x.y2, 1.5e-3",
                "SELECT ?, ?, ?, $1, x.y2, ?-?",
            ),
            (
                "a = $tag$ secret $tag$ AND \"Name 1\" = .5;",
                "a = ? AND \"Name 1\" = ?;",
            ),
            ("SELECT 'a\\' , 'secret'", "SELECT ?"),
            ("SELECT /* a /* b */ c */ 1", "SELECT ?"),
            ("  SELECT\n\t1 -- secret\n, N'x', U&'y' /* z */ ", "SELECT ? , ?, ?"),
        ] {
            assert_eq!(scrubbed(text, Dialect::Postgres), left);
        }
    }

    #[test]
    fn constants_of_mysql_go() {
        let text = "SELECT `a b`, \"secret\", 'it\\'s', x'1f', 0x1f # secret\nFROM t1 WHERE a=-5";
        assert_eq!(
            scrubbed(text, Dialect::MySql),
            "SELECT `a b`, ?, ?, ?, ? FROM t1 WHERE a=-?"
        );
    }

    #[test]
    fn every_begin_of_a_text_ends() {
        let text = "SELECT 'a''b\\', E'\\'', $x$ y $x$ \"n\" /* c */ -- d\n U&'e' 0x1f .5 a.5 $1 `f`";
        for end in 0..text.len() {
            scrubbed(&text[..end], Dialect::Postgres);
            scrubbed(&text[..end], Dialect::MySql);
        }
    }
}
