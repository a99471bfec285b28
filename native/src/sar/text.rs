//! The text that sar prints: headings with a time, and lines of figures under them.
//!
//! Linux prints every switch under a heading of its own. System V (Solaris, HP-UX, AIX) may print all headings first,
//! and then for each time a line for each of them, or several where a heading is about devices.

use std::collections::HashMap;

use arrow_schema::ArrowError;
use memchr::memchr;
use pyo3::Py;

use super::block::{Block, Kind};
use super::local_time::LocalTime;
use super::number::{figure, value};
use super::stamp::{Clock, time_of_day};
use super::tables::Tables;
use super::vocabulary::{Activity, SarVocabulary};
use super::{Done, Header, Scanner};

const USUAL_WORDS: usize = 20;

/// How a line begins that says whose figures follow.
const SYSTEMS: [&str; 4] = ["Linux ", "SunOS ", "HP-UX ", "AIX "];

/// A heading as it stands in the text.
struct Heading {
    block: usize,
    /// Column of the line at which each of its words ends.
    ends: Vec<usize>,
}

pub struct Text {
    vocabulary: Py<SarVocabulary>,
    /// Activities as this machine counts them.
    own: Vec<Activity>,
    times: LocalTime,
    clock: Clock,
    known: HashMap<String, Option<usize>>,
    blocks: Vec<Block>,
    /// The headings whose lines alternate, and which of them the next line may belong to.
    group: Vec<Heading>,
    at: usize,
    filled: bool,
    second: Option<i64>,
    averages: bool,
    line: u64,
    values: Vec<f64>,
}

/// A word of a line, and where it begins.
type Word<'a> = (usize, &'a str);

impl Text {
    pub fn new(vocabulary: Py<SarVocabulary>, times: LocalTime) -> Self {
        Self {
            vocabulary,
            own: Vec::new(),
            times,
            clock: Clock::new(),
            known: HashMap::new(),
            blocks: Vec::new(),
            group: Vec::new(),
            at: 0,
            filled: false,
            second: None,
            averages: false,
            line: 0,
            values: Vec::new(),
        }
    }

    fn read(&mut self, line: &str, is_cut: bool, tables: &mut Tables) -> Done {
        if let Some((second, rest)) = time_of_day(line) {
            self.averages = false;
            let words = words(rest, line.len() - rest.len());
            return self.timed(second, line, &words, is_cut, tables);
        }
        let words = words(line, 0);
        match words.first() {
            None => Ok(()),
            Some((0, _)) => {
                self.untimed(&words, tables);
                Ok(())
            }
            Some(_) if self.averages => Ok(()),
            Some(_) if is_heading(&words) && !self.filled && !self.group.is_empty() => self.heading(&words, tables),
            Some((_, first)) => {
                // Devices go on under their heading; figures without a name belong to the next one.
                let named = figure(first.as_bytes()).is_none();
                let heading = self.next_heading(&words, self.at + usize::from(!named));
                self.figures(line, &words, heading, is_cut, tables)
            }
        }
    }

    /// Averages, whatever the language calls them, and what System V says of the machine.
    fn untimed(&mut self, words: &[Word], tables: &mut Tables) {
        let [first, second] = [0, 1].map(|position| words.get(position).map_or("", |word| word.1));
        let named = |word: &str| word.ends_with([':', '：']);
        self.averages = first == "Average" || named(first) || named(second) || words.iter().any(|word| named(word.1));
        if !self.averages && words[0].1 != "System" {
            tables.skip(self.line, "no line of sar");
        }
    }

    fn timed(&mut self, second: i64, line: &str, words: &[Word], is_cut: bool, tables: &mut Tables) -> Done {
        let Some(&(_, first)) = words.first() else {
            tables.skip(self.line, "nothing beside its time");
            return Ok(());
        };
        if words.iter().any(|word| is_restart(word.1)) || first == "COM" {
            let kind = if first == "COM" { "comment" } else { "restart" };
            let text: Vec<&str> = words.iter().map(|word| word.1).collect();
            let moment = self.clock.at(second, &mut self.times);
            tables.event(&tables.moment(moment.0, None), kind, &text.join(" "));
            return Ok(());
        }
        if is_heading(words) {
            self.group.clear();
            self.filled = false;
            self.heading(words, tables)?;
            if let Some(first) = self.group.first() {
                self.clock.heading(first.block, second, &mut self.times);
            }
            return Ok(());
        }
        self.second = Some(second);
        self.at = 0;
        self.figures(line, words, self.next_heading(words, 0), is_cut, tables)
    }

    fn heading(&mut self, words: &[Word], tables: &mut Tables) -> Done {
        let columns: Vec<&str> = words.iter().map(|word| word.1).collect();
        let key = columns.join(" ");
        let block = match self.known.get(&key) {
            Some(&block) => block,
            None => {
                let block = match self.vocabulary.get().heading(&columns, &self.own) {
                    Some(given) => {
                        self.blocks.push(tables.block(&given)?);
                        Some(self.blocks.len() - 1)
                    }
                    None => None,
                };
                self.known.insert(key, block);
                block
            }
        };
        match block {
            Some(block) => self.group.push(Heading {
                block,
                ends: words.iter().map(|(begin, word)| begin + word.len()).collect(),
            }),
            None => tables.skip(self.line, "no heading that sar prints"),
        }
        self.at = 0;
        Ok(())
    }

    fn figures(
        &mut self,
        line: &str,
        words: &[Word],
        heading: Option<usize>,
        is_cut: bool,
        tables: &mut Tables,
    ) -> Done {
        let (Some(second), Some(heading)) = (self.second, heading) else {
            tables.skip(self.line, "no heading above it, or no time");
            return Ok(());
        };
        self.at = heading;
        self.filled = true;
        let (block, ends) = (&self.blocks[self.group[heading].block], &self.group[heading].ends);
        if is_cut && cut_short(line, words, block, ends) {
            tables.skip(self.line, "the file ends within it");
            return Ok(());
        }
        let (ts_us, interval_s) = self.clock.at(second, &mut self.times);
        let item = match values(block, ends, words, &mut self.values) {
            Some(item) => item,
            None => {
                tables.skip(self.line, "does not fit the heading above it");
                return Ok(());
            }
        };
        tables.numbered(self.line, &tables.moment(ts_us, interval_s), block, item, &self.values)
    }

    /// The heading that a line belongs to: from a certain one on the first whose columns it fits.
    fn next_heading(&self, words: &[Word], from: usize) -> Option<usize> {
        if self.group.len() == 1 {
            return Some(0);
        }
        let named = words.first().is_some_and(|word| figure(word.1.as_bytes()).is_none());
        let fits = |position: &usize| {
            let block = &self.blocks[self.group[*position].block];
            (block.item == Some(0)) == named && block.figures.len() == words.len()
        };
        (from..self.group.len()).find(fits)
    }
}

impl Scanner for Text {
    fn feed(&mut self, piece: &[u8], tables: &mut Tables) -> Result<usize, ArrowError> {
        let mut begin = 0;
        while begin < piece.len() {
            let line_feed = memchr(b'\n', &piece[begin..]);
            let end = line_feed.map_or(piece.len(), |length| begin + length);
            let line = String::from_utf8_lossy(&piece[begin..end]);
            if SYSTEMS.iter().any(|system| line.starts_with(system)) {
                return Ok(begin);
            }
            self.line += 1;
            self.read(line.strip_suffix('\r').unwrap_or(&line), line_feed.is_none(), tables)?;
            begin = end + 1;
        }
        Ok(piece.len())
    }

    fn header(&mut self, header: Header, tables: &mut Tables) {
        tables.comes_from(header.host.as_deref(), &header.component);
        self.clock.begin(header.day);
        // What a column means may depend on the machine.
        self.own = header.activities;
        self.known.clear();
        self.group.clear();
        self.second = None;
        self.averages = false;
        self.line += 1;
    }

    fn times(&mut self) -> &mut LocalTime {
        &mut self.times
    }

    fn by_moment(&self) -> bool {
        false
    }
}

fn words(text: &str, offset: usize) -> Vec<Word<'_>> {
    let start = text.as_ptr() as usize;
    let mut found = Vec::with_capacity(USUAL_WORDS);
    found.extend(
        text.split_ascii_whitespace()
            .map(|word| (word.as_ptr() as usize - start + offset, word)),
    );
    found
}

fn is_heading(words: &[Word]) -> bool {
    words.iter().all(|word| figure(word.1.as_bytes()).is_none())
}

/// `LINUX RESTART`, `unix restarts`.
fn is_restart(word: &str) -> bool {
    ["restart", "restarts", "restarted"]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
}

/// Takes the values of a line into `values`, NaN where there are none; what the line is about. Nothing when its words do
/// not fit the columns.
fn values<'a>(block: &Block, ends: &[usize], words: &[Word<'a>], values: &mut Vec<f64>) -> Option<Option<&'a str>> {
    values.clear();
    values.resize(block.figures.len(), f64::NAN);
    if block.kind == Kind::Ignored {
        return Some(None);
    }
    if words.len() == block.figures.len() {
        for (position, word) in words.iter().enumerate() {
            if let Some(figure) = &block.figures[position] {
                values[position] = value(word.1.as_bytes(), figure.bytes)?;
            }
        }
        return Some(block.item.map(|item| words[item].1));
    }
    // System V leaves a column blank that does not apply; figures end where their heading ends.
    for (begin, word) in words {
        let position = ends.iter().position(|&end| end == begin + word.len())?;
        values[position] = value(word.as_bytes(), block.figures[position].as_ref()?.bytes)?;
    }
    block.item.is_none().then_some(None)
}

/// Whether the last line of a file lacks its end: columns are aligned to the right, and names may be cut anywhere.
fn cut_short(line: &str, words: &[Word], block: &Block, ends: &[usize]) -> bool {
    words.len() < block.figures.len()
        || line.len() < ends.last().copied().unwrap_or(0)
        || block.item.is_some_and(|item| item + 1 == words.len())
}
