//! What single lines of a text report say: titles, rulers, the columns below a ruler, `name: value`.

use std::borrow::Cow;

use memchr::memchr_iter;
use pyo3::prelude::*;

/// A ruler of one piece that begins further right than this is the line below a table.
const END_INDENT: usize = 5;
/// Narrower columns hold nothing that could be cut off.
const NARROW: usize = 10;

/// The title that a line with `DB/Inst:` or `for DB:` says. Reports that compare two periods name the first behind it.
pub fn title(line: &str) -> Option<&str> {
    // Colons are quickly found, and few.
    let before = |mark: &str| {
        let colon = memchr_iter(b':', line.as_bytes()).find(|&colon| line[..colon].ends_with(mark))?;
        Some(colon - mark.len())
    };
    let end = before("DB/Inst").or_else(|| before(" for DB").filter(|_| line.contains("Snap")))?;
    let title = line[..end].trim();
    Some(title.strip_suffix("  First").unwrap_or(title).trim_end())
}

/// How long the line of `~~~` below a title is.
pub fn underline(line: &str) -> Option<usize> {
    (line.starts_with("~~~") && !is_ruler(line)).then(|| line.bytes().take_while(|&byte| byte == b'~').count())
}

/// Whether a line holds nothing but dashes; a column may have `~~~` where others have dashes.
pub fn is_ruler(line: &str) -> bool {
    let dashed = |byte: u8| matches!(byte, b'-' | b' ' | b'~');
    line.len() > 1 && line.bytes().rev().take(2).all(dashed) && line.bytes().all(dashed) && line.contains('-')
}

/// Where the columns below a ruler begin and end; nothing of the line that ends a table.
pub fn ruler(line: &str) -> Option<Vec<(usize, usize)>> {
    let mut spans = Vec::new();
    let mut begin = None;
    for (at, byte) in line.bytes().chain([b' ']).enumerate() {
        match (byte, begin) {
            (b' ', Some(first)) => {
                spans.push((first, at));
                begin = None;
            }
            (b' ', None) | (_, Some(_)) => {}
            (_, None) => begin = Some(at),
        }
    }
    (spans.len() > 1 || spans.first().is_some_and(|&(first, _)| first < END_INDENT)).then_some(spans)
}

/// A piece of a line by columns.
fn piece(line: &str, is_ascii: bool, begin: usize, end: usize) -> &str {
    let end = end.max(begin);
    if is_ascii {
        return &line[begin.min(line.len())..end.min(line.len())];
    }
    let byte = |column: usize| line.char_indices().nth(column).map_or(line.len(), |(byte, _)| byte);
    &line[byte(begin)..byte(end)]
}

/// Whether a cell holds a figure, or says that there is none.
pub fn is_figure(cell: &str) -> bool {
    matches!(cell, "" | "N/A") || cell.starts_with(|first: char| first.is_ascii_digit() || ".-<#".contains(first))
}

/// Whether a cell names a statement: a SQL id, or a hash value.
pub fn is_statement(cell: &str) -> bool {
    let is_id = cell.len() == 13
        && cell
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
    is_id || (cell.len() >= 4 && cell.bytes().all(|byte| byte.is_ascii_digit()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
    Unknown,
}

/// The columns of a ruler. What stands left of the first dashes, or below `~~~`, is the label of a row.
#[derive(PartialEq, Eq)]
pub struct Level {
    pub names: Vec<String>,
    spans: Vec<(usize, usize)>,
    aligns: Vec<Align>,
    pub has_label: bool,
}

impl Level {
    pub fn new(line: &str, mut spans: Vec<(usize, usize)>, headings: &[Cow<'_, str>]) -> Self {
        let is_bare = spans.first().is_some_and(|&(begin, _)| begin > 0);
        let has_label = is_bare || line.starts_with("~~~");
        if is_bare {
            spans.insert(0, (0, spans[0].0 - 1));
        }
        let mut names = names(&spans, headings);
        if !is_bare && has_label {
            join_first(&mut names, &spans, headings);
        }
        let last = headings.last().map_or("", |line| line.as_ref());
        let aligns = spans.iter().map(|&(begin, end)| align(last, begin, end)).collect();
        Self {
            names,
            spans,
            aligns,
            has_label,
        }
    }

    pub fn width(&self) -> usize {
        self.spans.len()
    }

    /// What stands above the labels, which is a title: no column has that name.
    pub fn take_title(&mut self) -> Option<String> {
        let is_title = self.has_label && self.spans[0].1 > 1 && !self.names[0].is_empty();
        is_title.then(|| std::mem::take(&mut self.names[0]))
    }

    /// Take the names above rulers that span several columns, if that is what they do: each begins and ends with some.
    pub fn take_groups(&mut self, groups: &Self) -> bool {
        let ruled = usize::from(groups.has_label)..groups.spans.len();
        let begins = |begin| self.spans.iter().any(|span| span.0 == begin);
        let ends = |end| self.spans.iter().any(|span| span.1 == end);
        if ruled.len() >= self.spans.len() || !groups.spans[ruled.clone()].iter().all(|&(b, e)| begins(b) && ends(e)) {
            return false;
        }
        for (&(begin, end), name) in self.spans.iter().zip(&mut self.names) {
            let group = ruled
                .clone()
                .find(|&at| groups.spans[at].0 <= begin && end <= groups.spans[at].1);
            if let Some(group) = group.map(|at| &groups.names[at]).filter(|group| !group.is_empty()) {
                *name = format!("{group} {name}");
            }
        }
        true
    }

    /// Whether its columns are among those of another.
    pub fn is_part_of(&self, other: &Self) -> bool {
        let ruled = &self.spans[usize::from(self.has_label)..];
        ruled.iter().all(|span| other.spans.contains(span))
    }

    /// The cells of a line and how wide their columns are: each goes on to where the next begins, the last to the end.
    pub fn cells<'l>(&self, line: &'l str) -> impl Iterator<Item = (&'l str, usize)> {
        let is_ascii = line.is_ascii();
        let next = move |pair: &[(usize, usize)]| match is_ascii {
            true => begin(line.as_bytes(), pair[0].1, pair[1].0),
            false => pair[1].0,
        };
        let nexts = self.spans.windows(2).map(next);
        let mut from = 0;
        let cells = self.spans.iter().zip(nexts.chain([usize::MAX]));
        cells.map(move |(&(first, last), next)| {
            let cell = piece(line, is_ascii, if from == 0 { first } else { from }, next);
            from = next;
            let cell = if is_ascii { cell.trim_ascii() } else { cell.trim() };
            (cell, last - first)
        })
    }

    /// Whether a line keeps to the columns: nothing between them, and each cell aligned as its heading.
    pub fn fits(&self, line: &str) -> bool {
        let letters: Vec<char> = line.chars().collect();
        let is_blank = |column: usize| letters.get(column).is_none_or(|letter| *letter == ' ');
        let gaps = self.spans.windows(2).all(|pair| (pair[0].1..pair[1].0).all(is_blank));
        let aligned = |(&(begin, end), align): (&(usize, usize), &Align)| {
            (begin..end).all(is_blank)
                || match align {
                    Align::Left => !is_blank(begin),
                    Align::Right => !is_blank(end - 1),
                    Align::Unknown => true,
                }
        };
        gaps && self.spans.iter().zip(&self.aligns).all(aligned)
    }

    /// Whether a line is the label of the row below it.
    pub fn is_label(&self, line: &str) -> bool {
        self.has_label && self.spans[0].1 < 2 && !is_figure(line.trim())
    }
}

/// Where a cell begins that may reach into the blanks before its column.
fn begin(line: &[u8], end_before: usize, begin: usize) -> usize {
    let is_set = |column: usize| line.get(column).is_some_and(|byte| *byte != b' ');
    if !is_set(begin) || begin == 0 || !is_set(begin - 1) {
        return begin;
    }
    let first = (0..begin)
        .rev()
        .take_while(|&column| is_set(column))
        .last()
        .unwrap_or(begin);
    if first >= end_before { first } else { begin }
}

/// How cells are aligned, where a heading is so narrow that it shows.
fn align(heading: &str, begin: usize, end: usize) -> Align {
    let letters = piece(heading, heading.is_ascii(), begin, end);
    let blanks = |count: usize| 3 * count >= end - begin;
    let before = letters.len() - letters.trim_start_matches(' ').len();
    let behind = end - begin - letters.trim_end_matches(' ').chars().count();
    match (before, behind) {
        (0, behind) if blanks(behind) => Align::Left,
        (before, 0) if blanks(before) => Align::Right,
        _ => Align::Unknown,
    }
}

/// The name of each column: the words above its ruler, from top to bottom. What stands between dashes is a heading of
/// all columns below it.
fn names(spans: &[(usize, usize)], headings: &[Cow<'_, str>]) -> Vec<String> {
    let mut names = vec![String::new(); spans.len()];
    for line in headings {
        for (begin, end, word) in words(line) {
            let overlap = |&(first, last): &(usize, usize)| last.min(end) as i64 - first.max(begin) as i64;
            let best = (0..spans.len()).rev().max_by_key(|&column| overlap(&spans[column]));
            let is_group = word.contains('-') && word.trim_matches('-').contains(char::is_whitespace);
            let inner = word.trim_matches(|letter| is_group && (letter == '-' || letter == ' '));
            for (column, name) in names.iter_mut().enumerate() {
                if Some(column) == best || (is_group && overlap(&spans[column]) > 0) {
                    append(name, inner);
                }
            }
        }
    }
    names
}

/// `Host Name` above `~~~~ -------` is the name of the second column: nothing stands below the first.
fn join_first(names: &mut [String], spans: &[(usize, usize)], headings: &[Cow<'_, str>]) {
    let first = headings.last().map_or("", |line| line.split("  ").next().unwrap_or(""));
    if let ([label, name, ..], [_, (begin, _), ..]) = (names, spans)
        && first.chars().count() > *begin
    {
        *name = std::mem::take(label) + " " + name;
    }
}

fn append(name: &mut String, word: &str) {
    if !name.is_empty() && !word.is_empty() {
        name.push(' ');
    }
    name.push_str(word);
}

/// The words of a line and where they begin and end, in columns; `--- of more ---` is one, with its dashes.
fn words(line: &str) -> Vec<(usize, usize, &str)> {
    let is_dashes = |piece: &str| piece.len() > 1 && piece.bytes().all(|byte| byte == b'-');
    let mut found: Vec<(usize, usize, &str)> = Vec::new();
    let mut group = None::<(usize, usize)>;
    let (mut column, mut byte) = (0, 0);
    for piece in line.split(' ') {
        let width = piece.chars().count();
        match group {
            Some((first, from)) if is_dashes(piece) => {
                found.push((first, column + width, &line[from..byte + piece.len()]));
                group = None;
            }
            None if is_dashes(piece) => group = Some((column, byte)),
            None if !piece.is_empty() => found.push((column, column + width, piece)),
            _ => {}
        }
        column += width + 1;
        byte += piece.len() + 1;
    }
    found
}

/// `name: value` once or several times on a line, as cells; the colon stays with the name.
pub fn pairs(line: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    let mut rest = line;
    while let Some(colon) = rest.find(": ") {
        let (name, value) = rest.split_at(colon + 1);
        let value = value.trim_start();
        let end = value.find("  ").unwrap_or(value.len());
        cells.extend([name.trim(), value[..end].trim()]);
        rest = &value[end..];
    }
    if !cells.is_empty() {
        cells.extend(rest.split("  ").map(str::trim).filter(|value| !value.is_empty()));
    }
    cells
}

/// Names that are longer than a column may be.
#[pyclass(frozen, module = "doctord._native")]
#[derive(Default)]
pub struct LongNames(Vec<String>);

#[pymethods]
impl LongNames {
    #[new]
    fn new(mut known: Vec<String>) -> Self {
        known.sort();
        Self(known)
    }
}

impl LongNames {
    /// The known name of which a cell as wide as its column is the beginning; else the cell. Of several such names rows
    /// in a row have the first, the second, and so on, for they are in that order.
    pub fn whole<'a>(&'a self, cell: &'a str, width: usize, last: &mut Cut) -> &'a str {
        // What was cut off behind a blank is one shorter.
        if width < NARROW || cell.len() + 1 < width {
            return cell;
        }
        last.count = if last.cell == cell { last.count + 1 } else { 0 };
        last.cell.clear();
        last.cell.push_str(cell);
        let first = self.0.partition_point(|name| name.as_str() < cell);
        let mut found = self.0[first..].iter().take_while(|name| name.starts_with(cell));
        found.nth(last.count).map_or(cell, String::as_str)
    }
}

/// The last cell that may have been cut off, and how many before it read the same.
#[derive(Default)]
pub struct Cut {
    cell: String,
    count: usize,
}

/// What stands below a row: the module that ran a statement, its pluggable database, and its text.
#[derive(Default)]
pub struct Below {
    module: String,
    database: String,
    lines: Vec<String>,
}

/// Reports cut statements into lines of so many characters.
const WIDTHS: [usize; 2] = [64, 80];

impl Below {
    pub const NAMES: [&str; 3] = ["SQL Module", "PDB Name", "SQL Text"];

    pub fn line(&mut self, line: &str) {
        if let (true, Some(module)) = (self.lines.is_empty(), line.strip_prefix("Module:")) {
            self.module = module.trim().to_string();
        } else if let (true, Some(database)) = (self.lines.is_empty(), line.strip_prefix("PDB:")) {
            self.database = database.trim().to_string();
        } else {
            self.lines.push(line.to_string());
        }
    }

    /// The cells, and nothing is held any more. Where a line was cut inside a word, the word is whole again.
    pub fn take(&mut self) -> [String; 3] {
        let length = |line: &String| line.chars().count();
        let longest = self.lines.iter().map(length).max().unwrap_or(0);
        let width = WIDTHS.into_iter().find(|&width| longest <= width).unwrap_or(longest);
        let mut text = String::new();
        for line in self.lines.drain(..) {
            text.push_str(&line);
            if length(&line) < width {
                text.push(' ');
            }
        }
        let text = text.trim().to_string();
        [
            std::mem::take(&mut self.module),
            std::mem::take(&mut self.database),
            text,
        ]
    }
}
