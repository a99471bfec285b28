//! The tokens of JSON, from a text that comes in pieces.

/// A token; strings as they stand between their quotes, numbers as they are written.
#[derive(Debug, PartialEq)]
pub enum Token<'a> {
    Begin,
    End,
    Key(&'a [u8]),
    Text(&'a [u8]),
    Number(&'a [u8]),
    /// true, false, null.
    Word,
}

/// More levels than sadf has ever printed.
const MOST_LEVELS: usize = 64;

#[derive(Debug, PartialEq)]
pub struct NotJson;

/// Where the text stands: the brackets that are open, and whether a key may come.
#[derive(Default)]
pub struct Tokens {
    open: Vec<u8>,
    wants_key: bool,
}

impl Tokens {
    /// How many brackets are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether the innermost open bracket is one of an array.
    pub fn in_array(&self) -> bool {
        self.open.last() == Some(&b'[')
    }

    /// The next token from a position on, and where it ends; nothing when the rest holds no whole token. A number or word at the
    /// end may go on in the next piece, unless that is the last.
    pub fn next<'a>(&mut self, text: &'a [u8], mut at: usize) -> Result<Option<(Token<'a>, usize)>, NotJson> {
        loop {
            let Some(&byte) = text.get(at) else {
                return Ok(None);
            };
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b':' => at += 1,
                b',' => {
                    self.wants_key = self.open.last() == Some(&b'{');
                    at += 1;
                }
                b'{' | b'[' => {
                    if self.open.len() == MOST_LEVELS {
                        return Err(NotJson);
                    }
                    self.open.push(byte);
                    self.wants_key = byte == b'{';
                    return Ok(Some((Token::Begin, at + 1)));
                }
                b'}' | b']' => {
                    if self.open.pop().is_none_or(|open| open + 2 != byte) {
                        return Err(NotJson);
                    }
                    self.wants_key = false;
                    return Ok(Some((Token::End, at + 1)));
                }
                b'"' => return Ok(self.string(text, at + 1)),
                b'-' | b'0'..=b'9' | b'a'..=b'z' | b'N' | b'I' => return Ok(bare(text, at)),
                _ => return Err(NotJson),
            }
        }
    }

    fn string<'a>(&mut self, text: &'a [u8], begin: usize) -> Option<(Token<'a>, usize)> {
        let mut end = begin;
        loop {
            match text.get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        let inside = &text[begin..end];
        let token = if self.wants_key {
            Token::Key(inside)
        } else {
            Token::Text(inside)
        };
        self.wants_key = false;
        Some((token, end + 1))
    }
}

fn bare(text: &[u8], begin: usize) -> Option<(Token<'_>, usize)> {
    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
    let end = begin + text[begin..].iter().position(ends)?;
    let word = &text[begin..end];
    let token = match word[0] {
        b'-' | b'0'..=b'9' => Token::Number(word),
        _ => Token::Word,
    };
    Some((token, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<String>, NotJson> {
        let (mut tokens, mut at, mut found) = (Tokens::default(), 0, Vec::new());
        while let Some((token, end)) = tokens.next(text.as_bytes(), at)? {
            found.push(match token {
                Token::Key(word) => format!("key {}", String::from_utf8_lossy(word)),
                Token::Text(word) => format!("text {}", String::from_utf8_lossy(word)),
                Token::Number(word) => format!("number {}", String::from_utf8_lossy(word)),
                other => format!("{other:?}"),
            });
            at = end;
        }
        Ok(found)
    }

    #[test]
    fn tokens_of_a_document() {
        let found = all(r#"{"a": [1.5, "b\"c"], "d": null}"#).unwrap();
        let wanted = [
            "Begin",
            "key a",
            "Begin",
            "number 1.5",
            "text b\\\"c",
            "End",
            "key d",
            "Word",
            "End",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_is_not_whole_is_left() {
        assert_eq!(all(r#"{"a"#).unwrap(), ["Begin"]);
        assert_eq!(all(r#"{"a": 12"#).unwrap(), ["Begin", "key a"]);
        assert_eq!(all(r#"{"a\"#).unwrap(), ["Begin"]);
    }

    #[test]
    fn what_is_not_json() {
        assert_eq!(all("{]"), Err(NotJson));
        assert_eq!(all("}"), Err(NotJson));
        assert_eq!(all("<html>"), Err(NotJson));
        assert_eq!(all(&"[".repeat(100)), Err(NotJson));
    }
}
