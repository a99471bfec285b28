//! What `sadf -j` prints: for each moment an object of sections, each an object of figures or a list of such.

use std::collections::HashMap;

use arrow_schema::ArrowError;

use pyo3::Py;

use super::block::Block;
use super::json_token::{NotJson, Token, Tokens};
use super::lines::local_s;
use super::local_time::LocalTime;
use super::number::value;
use super::tables::{Moment, Tables};
use super::vocabulary::{Field, SarVocabulary};
use super::{Done, Scanner};

/// Longer than any token that sadf writes.
const MOST_WAITING: usize = 1 << 20;

/// What a key in a section is.
enum Known {
    Item,
    Figure(usize),
    Nothing,
}

struct Section {
    name: String,
    block: Block,
    keys: Vec<(Vec<u8>, Known)>,
    /// Keys come in the same order again and again: where the next one is likely to be found.
    next: usize,
}

/// The section at hand: how deep it lies, and whether it is a list.
struct Open {
    section: usize,
    depth: usize,
    is_list: bool,
}

pub struct Json {
    vocabulary: Py<SarVocabulary>,
    times: LocalTime,
    tokens: Tokens,
    waiting: Vec<u8>,
    line: u64,
    broken: bool,
    key: Vec<u8>,
    /// Sections by the key that they have; nothing for a key of something else.
    names: HashMap<Vec<u8>, Option<usize>>,
    sections: Vec<Section>,
    open: Option<Open>,
    item: Option<String>,
    values: Vec<f64>,
    /// What is told outside of sections, and of what: a moment, a restart, a comment.
    told: HashMap<Vec<u8>, String>,
    about: Option<(Vec<u8>, usize)>,
    moment: Option<Moment>,
}

impl Json {
    pub fn new(vocabulary: Py<SarVocabulary>, times: LocalTime) -> Self {
        Self {
            vocabulary,
            times,
            tokens: Tokens::default(),
            waiting: Vec::new(),
            line: 1,
            broken: false,
            key: Vec::new(),
            names: HashMap::new(),
            sections: Vec::new(),
            open: None,
            item: None,
            values: Vec::new(),
            told: HashMap::new(),
            about: None,
            moment: None,
        }
    }

    /// Reads the whole tokens of a text; how much of it they are.
    fn read(&mut self, text: &[u8], tables: &mut Tables) -> Result<usize, ArrowError> {
        let mut at = 0;
        loop {
            match self.tokens.next(text, at) {
                Ok(Some((token, end))) => {
                    self.take(token, tables)?;
                    at = end;
                }
                Ok(None) => return Ok(at),
                Err(NotJson) => {
                    let lines = text[..at].iter().filter(|&&byte| byte == b'\n').count();
                    tables.skip(self.line + lines as u64, "no JSON from here on");
                    self.broken = true;
                    return Ok(text.len());
                }
            }
        }
    }

    fn take(&mut self, token: Token, tables: &mut Tables) -> Done {
        match token {
            Token::Key(key) => {
                self.key.clear();
                self.key.extend_from_slice(key);
                Ok(())
            }
            Token::Begin => self.begin(tables),
            Token::End => self.end(tables),
            Token::Text(text) | Token::Number(text) if self.open.is_some() => self.figure(text, tables),
            Token::Text(text) | Token::Number(text) => {
                self.told
                    .insert(self.key.clone(), String::from_utf8_lossy(text).into_owned());
                Ok(())
            }
            Token::Word => Ok(()),
        }
    }

    fn begin(&mut self, tables: &mut Tables) -> Done {
        let key = std::mem::take(&mut self.key);
        let depth = self.tokens.depth();
        if let Some(open) = &self.open {
            if open.is_list && depth == open.depth + 1 {
                self.begin_line();
            }
            return Ok(());
        }
        match key.as_slice() {
            b"" => {}
            b"timestamp" | b"boot" | b"comment" => self.about = Some((key, depth)),
            _ => {
                if let Some(section) = self.section(&key, tables)? {
                    let is_list = self.tokens.in_array();
                    self.open = Some(Open {
                        section,
                        depth,
                        is_list,
                    });
                    self.begin_line();
                }
            }
        }
        Ok(())
    }

    fn begin_line(&mut self) {
        self.item = None;
        self.values.clear();
    }

    fn section(&mut self, key: &[u8], tables: &mut Tables) -> Result<Option<usize>, ArrowError> {
        if let Some(&known) = self.names.get(key) {
            return Ok(known);
        }
        let name = String::from_utf8_lossy(key).into_owned();
        let number = match self.vocabulary.get().section(&name) {
            Some(given) => {
                let block = tables.block(&given)?;
                self.sections.push(Section {
                    name,
                    block,
                    keys: Vec::new(),
                    next: 0,
                });
                Some(self.sections.len() - 1)
            }
            None => None,
        };
        self.names.insert(key.to_vec(), number);
        Ok(number)
    }

    fn end(&mut self, tables: &mut Tables) -> Done {
        let depth = self.tokens.depth();
        if let Some(open) = &self.open {
            let (closes, section) = (depth < open.depth, open.section);
            if depth == open.depth && open.is_list || closes && !open.is_list {
                self.end_line(section, tables)?;
            }
            if closes {
                self.open = None;
            }
        } else if let Some((about, _)) = self.about.take_if(|(_, begun)| depth < *begun) {
            self.ended(&about, tables);
        }
        Ok(())
    }

    fn end_line(&mut self, section: usize, tables: &mut Tables) -> Done {
        let section = &mut self.sections[section];
        section.next = 0;
        match &self.moment {
            Some(moment) => tables.line(moment, &section.block, self.item.as_deref(), &self.values),
            None => Ok(()),
        }
    }

    fn figure(&mut self, text: &[u8], tables: &mut Tables) -> Done {
        let Some(open) = &self.open else { return Ok(()) };
        let section = &mut self.sections[open.section];
        let is_here = |known: &(Vec<u8>, Known)| known.0 == self.key;
        let found = match section.keys.get(section.next) {
            Some(known) if is_here(known) => Some(section.next),
            _ => section.keys.iter().position(is_here),
        };
        let position = match found {
            Some(position) => position,
            None => section.learn(&self.key, self.vocabulary.get(), tables)?,
        };
        section.next = position + 1;
        match section.keys[position].1 {
            Known::Item => self.item = Some(String::from_utf8_lossy(text).into_owned()),
            Known::Figure(figure) => {
                if self.values.len() <= figure {
                    self.values.resize(figure + 1, f64::NAN);
                }
                self.values[figure] = value(text, 1.0).unwrap_or(f64::NAN);
            }
            Known::Nothing => {}
        }
        Ok(())
    }

    /// A stamp, a restart or a comment is complete.
    fn ended(&mut self, about: &[u8], tables: &mut Tables) {
        let mut told = std::mem::take(&mut self.told);
        let mut take = |key: &str| told.remove(key.as_bytes());
        let stamp = format!(
            "{} {}",
            take("date").unwrap_or_default(),
            take("time").unwrap_or_default()
        );
        let is_utc = take("utc").is_none_or(|utc| utc == "1");
        let (interval, comment, cpus) = (take("interval"), take("com"), take("cpu_count"));
        if let Some(host) = take("nodename") {
            tables.comes_from(Some(&host), "kernel");
        }
        let Some(local) = local_s(&stamp) else {
            tables.skip(self.line, "a moment without date and time");
            self.moment = None;
            return;
        };
        let ts_us = if is_utc {
            local * 1_000_000
        } else {
            self.times.utc_us(local, false)
        };
        let interval_s = interval
            .and_then(|text| text.parse().ok())
            .filter(|&seconds: &f64| seconds > 0.0);
        let moment = tables.moment(ts_us, interval_s);
        match about {
            b"timestamp" => self.moment = Some(moment),
            b"boot" => {
                let cpus = cpus.map_or(String::new(), |cpus| format!(" ({cpus} CPU)"));
                tables.event(&moment, "restart", &format!("LINUX RESTART{cpus}"));
            }
            _ => tables.event(&moment, "comment", &format!("COM {}", comment.unwrap_or_default())),
        }
    }
}

impl Section {
    /// Asks what a key is that was not met before.
    fn learn(&mut self, key: &[u8], vocabulary: &SarVocabulary, tables: &mut Tables) -> Result<usize, ArrowError> {
        let known = match vocabulary.field(&self.name, &String::from_utf8_lossy(key)) {
            Field::Item => Known::Item,
            Field::Figure(given) => {
                let figure = tables.figure(self.block.grid, &given)?;
                self.block.figures.push(Some(figure));
                Known::Figure(self.block.figures.len() - 1)
            }
            Field::Nothing => Known::Nothing,
        };
        self.keys.push((key.to_vec(), known));
        Ok(self.keys.len() - 1)
    }
}

impl Scanner for Json {
    fn feed(&mut self, piece: &[u8], tables: &mut Tables) -> Result<usize, ArrowError> {
        if self.broken {
            return Ok(piece.len());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let joined;
        let text = if waiting.is_empty() {
            piece
        } else {
            joined = [&waiting[..], piece].concat();
            &joined
        };
        let end = self.read(text, tables)?;
        self.line += text[..end].iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.waiting = text[end..].to_vec();
        if self.waiting.len() > MOST_WAITING {
            tables.skip(self.line, "no JSON from here on");
            self.broken = true;
        }
        Ok(piece.len())
    }

    fn finish(&mut self, tables: &mut Tables) {
        if !self.broken && (self.tokens.depth() > 0 || !self.waiting.trim_ascii().is_empty()) {
            tables.skip(self.line, "the file ends before its JSON does");
        }
    }

    fn times(&mut self) -> &mut LocalTime {
        &mut self.times
    }

    fn by_moment(&self) -> bool {
        true
    }
}
