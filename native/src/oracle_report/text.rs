//! Tables of Oracle's reports in plain text: AWR, Statspack, ASH.
//!
//! A ruler of dashes says where the columns are, the lines above it name them, and a title stands above that: on a
//! line with `DB/Inst:` or `for DB:`, or underlined with `~~~`. A page that breaks repeats all three; the rows go on.
//! A table may have rows of two lines, each below its own ruler. What a text table cannot hold in a column stands
//! below its row, and becomes the columns that the HTML report has for it: `SQL Module`, `PDB Name`, `SQL Text`.

use std::borrow::Cow;
use std::mem::take;

use memchr::memchr;
use pyo3::prelude::*;

use super::lines::{Below, Cut, Level, LongNames, is_figure, is_ruler, is_statement, pairs, ruler, title, underline};
use super::tables::{Draft, ReportTable, finish};

/// Lines of headings between two rulers of one table.
const MOST_HEADINGS: usize = 5;

/// The tables of a report in plain text. Of a name that its column cuts off the whole is taken from `known`.
#[pyfunction]
#[pyo3(signature = (content, known=None))]
pub fn text_tables(py: Python<'_>, content: &[u8], known: Option<&LongNames>) -> Vec<ReportTable> {
    let none = LongNames::default();
    let known = known.unwrap_or(&none);
    py.detach(|| {
        let text = std::str::from_utf8(content).map_or_else(|_| String::from_utf8_lossy(content), Cow::Borrowed);
        finish(scan(&text, known))
    })
}

fn scan(text: &str, names: &LongNames) -> Vec<Draft> {
    let has_tabs = memchr(b'\t', text.as_bytes()).is_some();
    let lines: Vec<Cow<'_, str>> = text.lines().map(|line| cleaned(line, has_tabs)).collect();
    let mut scanner = Scanner::default();
    let mut at = 0;
    while at < lines.len() {
        at += scanner.line(&lines, at, names);
    }
    scanner.close();
    scanner.drafts
}

/// A line without a form feed before it and blanks behind it, tabs as blanks.
fn cleaned(line: &str, has_tabs: bool) -> Cow<'_, str> {
    let line = line.trim_start_matches('\x0c').trim_end();
    if !has_tabs || !line.contains('\t') {
        return Cow::Borrowed(line);
    }
    let mut wide = String::with_capacity(2 * line.len());
    let mut column = 0;
    for letter in line.chars() {
        let width = if letter == '\t' { 8 - column % 8 } else { 1 };
        if letter == '\t' {
            wide.extend(std::iter::repeat_n(' ', width));
        } else {
            wide.push(letter);
        }
        column += width;
    }
    Cow::Owned(wide)
}

#[derive(Default)]
struct Scanner<'a> {
    drafts: Vec<Draft>,
    title: String,
    /// Notes below the title (`-> ...`).
    above: Vec<String>,
    /// Lines that may name columns.
    headings: Vec<Cow<'a, str>>,
    /// `name: value`, which may follow below a title that is underlined.
    pairs: Option<Draft>,
    open: Option<Open<'a>>,
}

impl<'a> Scanner<'a> {
    /// Take the line at `at`; how many lines were taken.
    fn line(&mut self, lines: &'a [Cow<'a, str>], at: usize, names: &'a LongNames) -> usize {
        let line = lines[at].as_ref();
        let underlined = lines.get(at + 1).and_then(|next| underline(next));
        if line.is_empty() {
            self.headings.clear();
            self.open.iter_mut().for_each(Open::blank);
        } else if let Some(title) = title(line) {
            self.titled(title);
        } else if let Some(length) = underlined {
            self.underlined(line, length, at);
        } else if let Some(length) = underline(line) {
            self.headings
                .push(Cow::Owned(format!("{:length$}{}", "", &line[length..])));
        } else if line.starts_with("->") {
            self.above.push(line.to_string());
            self.headings.clear();
        } else if is_ruler(line) {
            return self.ruled(lines, at);
        } else if let Some(open) = self.open.as_mut().filter(|open| !open.is_paused) {
            open.row(line, names);
        } else {
            self.unruled(line);
        }
        1
    }

    fn titled(&mut self, title: &str) {
        self.headings.clear();
        self.above.clear();
        self.pairs();
        match &mut self.open {
            Some(open) if open.draft.title == title => open.is_paused = true,
            _ => self.close(),
        }
        self.title = title.to_string();
    }

    fn underlined(&mut self, line: &str, length: usize, at: usize) {
        self.close();
        // A title may be longer than the line below it.
        let byte = line.char_indices().nth(length).map_or(line.len(), |(byte, _)| byte);
        let end = line[byte..].find(' ').map_or(line.len(), |gap| byte + gap);
        let (title, rest) = line.split_at(end);
        self.title = title.trim().to_string();
        self.above.clear();
        self.headings.clear();
        if rest.trim_start().starts_with('(') {
            self.above.push(rest.trim().to_string());
        } else {
            self.headings.push(Cow::Owned(format!("{:end$}{rest}", "")));
        }
        self.pairs = Some(self.draft(at + 1));
    }

    /// A ruler: of a table that goes on, or of a new one; with a second one below it, of rows of two lines.
    fn ruled(&mut self, lines: &'a [Cow<'a, str>], at: usize) -> usize {
        let headings = take(&mut self.headings);
        let Some(spans) = ruler(&lines[at]) else {
            self.close();
            return 1;
        };
        let mut levels = vec![Level::new(&lines[at], spans, &headings)];
        if self
            .open
            .as_ref()
            .is_some_and(|open| headings.is_empty() && levels[0].is_part_of(&open.levels[0]))
        {
            return 1; // above a sum
        }
        if let Some(title) = levels[0].take_title() {
            self.close();
            self.title = title;
        }
        let mut last = at;
        while let Some((next, mut level)) = second(&lines[last + 1..], &levels) {
            if levels.last().is_some_and(|groups| level.take_groups(groups)) {
                levels.pop();
            }
            levels.push(level);
            last += 1 + next;
        }
        match &mut self.open {
            Some(open) if open.draft.title == self.title && open.levels == levels => open.is_paused = false,
            _ => {
                self.close_table();
                self.open = Some(Open::new(self.draft(at + 1), levels));
            }
        }
        last + 1 - at
    }

    fn draft(&self, line: usize) -> Draft {
        Draft::new(self.title.clone(), self.above.clone(), line)
    }

    /// A line that no ruler stands above.
    fn unruled(&mut self, line: &'a str) {
        self.headings.push(Cow::Borrowed(line));
        if let Some(draft) = &mut self.pairs {
            pairs(line).into_iter().for_each(|cell| draft.cell(&squeezed(cell)));
            draft.end_row();
        }
    }

    fn close(&mut self) {
        self.pairs();
        self.close_table();
    }

    fn close_table(&mut self) {
        if let Some(open) = self.open.take() {
            self.drafts.extend(Some(open.close()).filter(|draft| !draft.is_empty()));
        }
    }

    fn pairs(&mut self) {
        self.drafts.extend(self.pairs.take().filter(|draft| !draft.is_empty()));
    }
}

/// A cell as the HTML report has it: with single blanks.
fn squeezed(cell: &str) -> Cow<'_, str> {
    if cell.as_bytes().windows(2).any(|pair| pair == b"  ") {
        Cow::Owned(cell.split_whitespace().collect::<Vec<_>>().join(" "))
    } else {
        Cow::Borrowed(cell)
    }
}

/// The second ruler of a table whose rows have two lines: how far below the first it stands, and its columns.
fn second(below: &[Cow<'_, str>], levels: &[Level]) -> Option<(usize, Level)> {
    let near = below.iter().take(MOST_HEADINGS + 1);
    let stops = |line: &&Cow<'_, str>| !line.is_empty() && !line.starts_with("->") && title(line).is_none();
    let at = near
        .take_while(stops)
        .position(|line| is_ruler(line))
        .filter(|&at| at > 0)?;
    if below[..at].iter().any(|line| underline(line).is_some()) {
        return None;
    }
    let level = Level::new(&below[at], ruler(&below[at])?, &below[..at]);
    (!levels.iter().any(|known| level.is_part_of(known))).then_some((at, level))
}

/// A table whose rows are being read.
struct Open<'a> {
    draft: Draft,
    levels: Vec<Level>,
    /// The column by which a statement is known: lines without it are text, or rows of further levels.
    id: Option<usize>,
    /// Between two pages, or behind a blank line.
    is_paused: bool,
    is_settings: bool,
    /// The level that is due.
    due: usize,
    after_blank: bool,
    cells: Vec<Cow<'a, str>>,
    cut: Cut,
    label: &'a str,
    below: Below,
}

impl<'a> Open<'a> {
    fn new(mut draft: Draft, levels: Vec<Level>) -> Self {
        draft.names = levels.iter().flat_map(|level| level.names.iter().cloned()).collect();
        let is_id = |name: &String| {
            let name = name.to_lowercase().replace(' ', "");
            name.ends_with("sqlid") || name.ends_with("hashvalue")
        };
        let id = draft
            .title
            .contains("SQL")
            .then(|| levels[0].names.iter().position(is_id))
            .flatten();
        if id.is_some() {
            draft.names.extend(Below::NAMES.map(String::from));
        }
        let is_settings = draft.title.ends_with("Parameters") && !draft.title.contains("Multi");
        Self {
            draft,
            levels,
            id,
            is_paused: false,
            is_settings,
            due: 0,
            after_blank: true,
            cells: Vec::new(),
            cut: Cut::default(),
            label: "",
            below: Below::default(),
        }
    }

    fn blank(&mut self) {
        self.after_blank = true;
        // Rows of two lines, and those with text, stand apart from each other.
        if self.id.is_none() && self.levels.len() == 1 {
            self.is_paused = true;
        }
    }

    fn row(&mut self, line: &'a str, names: &'a LongNames) {
        match self.level(line) {
            Some(level) => self.take(line, level, names),
            None if self.id.is_some() => self.below.line(line),
            None => self.go_on(line),
        }
        self.after_blank = false;
    }

    /// The level whose columns a line keeps to, that which is due before others.
    fn level(&self, line: &str) -> Option<usize> {
        let count = self.levels.len();
        if let Some(id) = self.id {
            let is_statement = self.levels[0].fits(line) && {
                let mut cells = self.levels[0].cells(line).enumerate();
                cells.all(|(at, (cell, _))| if at == id { is_statement(cell) } else { is_figure(cell) })
            };
            let is_further = |&level: &usize| self.levels[level].fits(line);
            return if is_statement {
                Some(0)
            } else {
                (1..count).find(|level| (self.due == *level || self.after_blank) && is_further(level))
            };
        }
        if count == 1 {
            let is_label = self.levels[0].is_label(line);
            let goes_on = self.is_settings && line.starts_with(' ');
            return (!is_label && !goes_on).then_some(0);
        }
        (self.due..self.due + count)
            .map(|level| level % count)
            .find(|&level| self.levels[level].fits(line))
    }

    fn take(&mut self, line: &'a str, level: usize, names: &'a LongNames) {
        if level == 0 || self.due == 0 {
            self.end_row();
        }
        let before: usize = self.levels[..level].iter().map(Level::width).sum();
        self.cells.resize(before, Cow::Borrowed(""));
        let columns = &self.levels[level];
        let cells = columns.cells(line);
        self.cells
            .extend(cells.map(|(cell, width)| Cow::Borrowed(names.whole(cell, width, &mut self.cut))));
        if columns.has_label && self.cells[before].is_empty() {
            self.cells[before] = Cow::Borrowed(self.label);
        }
        if columns.has_label {
            self.part_last();
        }
        self.due = (level + 1) % self.levels.len();
    }

    /// `728M  Std Block Size:  8K` in the last column of labelled rows is a value and another name with its value.
    fn part_last(&mut self) {
        let Some(last) = self.cells.pop() else { return };
        let Some(colon) = last.find(": ") else {
            return self.cells.push(last);
        };
        let begin = last[..colon].rfind("  ").map_or(0, |gap| gap + 2);
        let parts = [&last[..begin], &last[begin..=colon], &last[colon + 1..]];
        self.cells.extend(parts.map(|part| Cow::Owned(part.trim().to_string())));
    }

    /// A line that begins no row: the label of the next, or more of the last.
    fn go_on(&mut self, line: &'a str) {
        if self.levels.len() == 1 && !self.is_settings {
            self.label = line.trim();
            return;
        }
        let level = &self.levels[self.due.saturating_sub(1)];
        for (cell, (more, _)) in self.cells.iter_mut().zip(level.cells(line)) {
            *cell += more;
        }
    }

    fn end_row(&mut self) {
        if self.cells.is_empty() {
            return;
        }
        if self.id.is_some() {
            self.cells
                .resize(self.draft.names.len() - Below::NAMES.len(), Cow::Borrowed(""));
            self.cells.extend(self.below.take().map(Cow::Owned));
        }
        self.cells.drain(..).for_each(|cell| self.draft.cell(&squeezed(&cell)));
        self.draft.end_row();
    }

    fn close(mut self) -> Draft {
        self.end_row();
        self.draft
    }
}
