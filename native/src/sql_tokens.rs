//! Cuts SQL text into tokens by the rules of a dialect. Text may be wrong, or cut off in the middle: what is not closed
//! goes to the end.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Postgres,
    MySql,
    Oracle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Space, and comments.
    Space,
    /// Strings and numbers, and what may be within one under other settings of the server.
    Constant,
    /// A name in quotes.
    Name,
    /// A keyword or a name.
    Word,
    /// Any other byte.
    Sign,
}

pub struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    dialect: Dialect,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (Kind, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let begin = self.at;
        let first = *self.text.get(begin)?;
        let (kind, end) = match self.dialect {
            Dialect::Postgres => self.postgres(first),
            Dialect::MySql => self.mysql(first),
            Dialect::Oracle => self.oracle(first),
        };
        self.at = end;
        Some((kind, &self.text[begin..end]))
    }
}

impl<'a> Tokens<'a> {
    pub fn of(text: &'a [u8], dialect: Dialect) -> Self {
        Self { text, at: 0, dialect }
    }

    fn postgres(&self, first: u8) -> (Kind, usize) {
        match first {
            b'\'' => (Kind::Constant, self.postgres_end()),
            b'"' => self.name(b'"'),
            b'/' if self.follows(b'*') => self.block_comment(true),
            b'$' if self.text.get(self.at + 1).is_some_and(|next| !next.is_ascii_digit()) => self.dollar(),
            _ => self.common(first),
        }
    }

    fn mysql(&self, first: u8) -> (Kind, usize) {
        match first {
            quote @ (b'\'' | b'"') => (Kind::Constant, self.escaped_end(self.at + 1, quote)),
            b'`' => self.name(b'`'),
            b'#' => self.line_comment(),
            _ => self.common(first),
        }
    }

    fn oracle(&self, first: u8) -> (Kind, usize) {
        match first {
            b'\'' => (Kind::Constant, self.doubled_end(self.at + 1, b'\'').0),
            b'"' => self.name(b'"'),
            _ => self.common(first),
        }
    }

    fn common(&self, first: u8) -> (Kind, usize) {
        match first {
            b'/' if self.follows(b'*') => self.block_comment(false),
            b'-' if self.follows(b'-') => self.line_comment(),
            _ if is_space(first) => {
                let spaces = self.text[self.at..].iter().take_while(|byte| is_space(**byte));
                (Kind::Space, self.at + spaces.count())
            }
            _ if self.is_word(first) || first == b'.' => self.word(),
            _ => (Kind::Sign, self.at + 1),
        }
    }

    fn follows(&self, byte: u8) -> bool {
        self.text.get(self.at + 1) == Some(&byte)
    }

    fn is_word(&self, byte: u8) -> bool {
        is_word(byte) || self.dialect == Dialect::Oracle && matches!(byte, b'$' | b'#')
    }

    fn word(&self) -> (Kind, usize) {
        let text = self.text;
        let before = self.at.checked_sub(1).map(|at| text[at]);
        let continues = before.is_some_and(|byte| is_word(byte) || matches!(byte, b'$' | b'.'));
        let digit_at = self.at + usize::from(text[self.at] == b'.');
        if !continues && text.get(digit_at).is_some_and(u8::is_ascii_digit) {
            let rest = text[digit_at..].iter();
            let end = digit_at + rest.take_while(|byte| is_word(**byte) || **byte == b'.').count();
            return (Kind::Constant, end);
        }
        if text[self.at] == b'.' {
            return (Kind::Sign, self.at + 1);
        }
        let word = text[self.at..].iter().take_while(|byte| self.is_word(**byte));
        let end = self.at + word.count();
        match self.prefixed_end(end) {
            Some(after) => (Kind::Constant, after),
            None => (Kind::Word, end),
        }
    }

    /// The end of a string whose prefix is the word that ends at `end`.
    fn prefixed_end(&self, end: usize) -> Option<usize> {
        let word = &self.text[self.at..end];
        let after = &self.text[end..];
        let is_quoted = after.starts_with(b"'");
        match word {
            b"U" | b"u" if after.starts_with(b"&'") => Some(self.doubled_end(end + 2, b'\'').0),
            b"E" | b"e" if is_quoted && self.dialect == Dialect::Postgres => Some(self.escaped_end(end + 1, b'\'')),
            b"B" | b"b" | b"X" | b"x" | b"N" | b"n" if is_quoted => Some(match self.dialect {
                Dialect::MySql => self.escaped_end(end + 1, b'\''),
                _ => self.doubled_end(end + 1, b'\'').0,
            }),
            _ if is_quoted && self.dialect == Dialect::Oracle => {
                matches!(word.to_ascii_uppercase()[..], [b'Q'] | [b'N', b'Q']).then(|| self.oracle_end(end + 1))
            }
            _ => None,
        }
    }

    /// Behind `q'`: a mark, and up to the same mark, or the bracket that closes, before a quote.
    fn oracle_end(&self, at: usize) -> usize {
        let Some(&mark) = self.text.get(at) else {
            return self.text.len();
        };
        let close = match mark {
            b'[' => b']',
            b'{' => b'}',
            b'(' => b')',
            b'<' => b'>',
            _ => mark,
        };
        let end = memchr::memmem::find(&self.text[at + 1..], &[close, b'\'']);
        end.map_or(self.text.len(), |end| at + 1 + end + 2)
    }

    /// A string without a prefix: where a backslash stands before a quote, its end depends on the server's settings.
    fn postgres_end(&self) -> usize {
        let mut at = self.at + 1;
        while at < self.text.len() {
            match (self.text[at], self.text.get(at + 1)) {
                (b'\'', Some(b'\'')) => at += 2,
                (b'\'', _) => break,
                (b'\\', Some(b'\'')) => return self.text.len(),
                (b'\\', Some(_)) => at += 2,
                _ => at += 1,
            }
        }
        self.doubled_end(self.at + 1, b'\'').0
    }

    /// A name that is not closed may be anything.
    fn name(&self, quote: u8) -> (Kind, usize) {
        match self.doubled_end(self.at + 1, quote) {
            (end, true) => (Kind::Name, end),
            (end, false) => (Kind::Constant, end),
        }
    }

    /// Comments that nest are closed differently from server to server: all of the rest is taken for a constant.
    fn block_comment(&self, may_nest: bool) -> (Kind, usize) {
        let inner = &self.text[self.at + 2..];
        let close = memchr::memmem::find(inner, b"*/");
        let open = memchr::memmem::find(inner, b"/*").filter(|_| may_nest);
        if open.is_some_and(|open| close.is_none_or(|close| open < close)) {
            return (Kind::Constant, self.text.len());
        }
        (
            Kind::Space,
            close.map_or(self.text.len(), |close| self.at + 2 + close + 2),
        )
    }

    fn line_comment(&self) -> (Kind, usize) {
        let end = memchr::memchr(b'\n', &self.text[self.at..]);
        (Kind::Space, end.map_or(self.text.len(), |end| self.at + end))
    }

    /// `$tag$ ... $tag$`; behind `$$` all is taken for a constant; anything else that begins with a dollar is a sign.
    fn dollar(&self) -> (Kind, usize) {
        let text = self.text;
        let before = self.at.checked_sub(1).map(|at| text[at]);
        let inner = &text[self.at + 1..];
        let length = inner.iter().take_while(|byte| is_word(**byte)).count();
        if before.is_some_and(|byte| is_word(byte) || byte == b'$') || inner.get(length) != Some(&b'$') {
            return (Kind::Sign, self.at + 1);
        }
        let tag = &text[self.at..self.at + length + 2];
        let body = self.at + tag.len();
        let close = memchr::memmem::find(&text[body..], tag).filter(|_| length > 0);
        (
            Kind::Constant,
            close.map_or(text.len(), |close| body + close + tag.len()),
        )
    }

    /// The end of what a doubled quote does not close, and whether it is closed at all.
    fn doubled_end(&self, mut at: usize, quote: u8) -> (usize, bool) {
        while let Some(found) = memchr::memchr(quote, &self.text[at..]) {
            at += found + 1;
            if self.text.get(at) != Some(&quote) {
                return (at, true);
            }
            at += 1;
        }
        (self.text.len(), false)
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

pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0d | 0x1c..=0x1f)
}
