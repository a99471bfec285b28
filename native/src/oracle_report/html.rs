//! Tables of a report in HTML: one pass over the bytes, which takes tags as they come and forgives what is not closed,
//! not quoted or cut off. A table inside another ends that one: reports do not nest them.

use memchr::{memchr, memchr_iter, memmem};
use pyo3::prelude::*;

use super::tables::{Draft, ReportTable, finish};

// Beyond these a number of columns or rows to span is a fault of the file.
const MOST_COLUMNS: usize = 128;
const MOST_ROWS: usize = 4096;
const LONGEST_TAG: usize = 1 << 16;

/// The title of a document, and its tables in their order.
#[pyfunction]
pub fn html_tables(py: Python<'_>, content: &[u8]) -> (String, Vec<ReportTable>) {
    py.detach(|| {
        let mut scan = Scan::default();
        scan.run(content);
        (scan.document, finish(scan.drafts))
    })
}

/// What text is for at the moment.
#[derive(Clone, Copy, Default, PartialEq)]
enum Place {
    #[default]
    Outside,
    Document,
    Heading,
    Cell,
    Hidden,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    begin: usize,
    end: usize,
    is_head: bool,
    columns: usize,
    rows: usize,
}

/// A cell that reaches into the rows below.
struct Hanging {
    column: usize,
    rows: usize,
    text: String,
}

#[derive(Default)]
struct Scan {
    drafts: Vec<Draft>,
    document: String,
    title: String,
    above: Vec<String>,
    place: Place,
    text: String,
    line: usize,
    is_link: bool,
    table: Option<Draft>,
    heads: Vec<Vec<(usize, usize, String)>>,
    row: Vec<Cell>,
    row_text: String,
    hanging: Vec<Hanging>,
}

impl Scan {
    fn run(&mut self, content: &[u8]) {
        let mut at = 0;
        self.line = 1;
        while let Some(offset) = memchr(b'<', &content[at..]) {
            let open = at + offset;
            self.add(&content[at..open]);
            let end = tag_end(content, open);
            self.line += memchr_iter(b'\n', &content[at..end]).count();
            if end == open + 1 {
                self.add(b"<");
            } else {
                self.tag(&content[open + 1..end]);
            }
            at = end;
        }
        self.add(&content[at..]);
        self.end_table();
        self.leave();
        self.end_section();
    }

    fn add(&mut self, bytes: &[u8]) {
        match self.place {
            Place::Hidden => {}
            Place::Cell => append(&mut self.row_text, bytes),
            Place::Outside if self.is_link || self.table.is_some() => {}
            _ => append(&mut self.text, bytes),
        }
    }

    fn tag(&mut self, tag: &[u8]) {
        let (is_end, tag) = match tag.split_first() {
            Some((b'/', rest)) => (true, rest),
            _ => (false, tag),
        };
        let length = tag
            .iter()
            .take(12)
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        let mut name = [0u8; 12];
        name[..length].copy_from_slice(&tag[..length]);
        name.make_ascii_lowercase();
        match (&name[..length], is_end) {
            (b"td" | b"th", false) => self.open_cell(name[1] == b'h', &tag[length..]),
            (b"td" | b"th", true) => self.close_cell(),
            (b"tr", _) => self.end_row(),
            (b"table", false) => self.open_table(&tag[length..]),
            (b"table", true) => self.end_table(),
            (b"a", _) => self.is_link = !is_end && attribute(&tag[length..], b"href=").is_some(),
            (b"br", _) if self.place != Place::Outside => self.add(b" "),
            (b"style" | b"script", false) if self.place != Place::Cell => self.place = Place::Hidden,
            (b"style" | b"script", true) if self.place == Place::Hidden => self.place = Place::Outside,
            (b"title", false) => self.enter(Place::Document),
            (b"h1" | b"h2" | b"h3" | b"h4", false) => self.enter(Place::Heading),
            (b"p" | b"li" | b"ul" | b"ol" | b"hr" | b"br" | b"div" | b"pre" | b"body", _) => self.leave(),
            (b"title" | b"h1" | b"h2" | b"h3" | b"h4", true) => self.leave(),
            _ => {}
        }
    }

    fn enter(&mut self, place: Place) {
        if self.table.is_none() {
            self.leave();
            self.place = place;
        }
    }

    /// End what text was for outside of tables: a heading, a paragraph.
    fn leave(&mut self) {
        if self.table.is_some() || self.place == Place::Hidden {
            return;
        }
        let text = squeezed(&self.text);
        self.text.clear();
        match self.place {
            Place::Document if self.document.is_empty() => self.document = text,
            Place::Heading if !text.is_empty() => {
                self.end_section();
                self.title = text;
            }
            Place::Outside if !text.is_empty() => self.above.push(text),
            _ => {}
        }
        self.place = Place::Outside;
    }

    /// Words that no table follows are kept as a table without columns.
    fn end_section(&mut self) {
        if !self.above.is_empty() {
            self.open_table(b"");
            self.end_table();
        }
    }

    fn open_table(&mut self, attributes: &[u8]) {
        self.end_table();
        self.leave();
        self.is_link = false;
        let mut summary = String::new();
        append(&mut summary, attribute(attributes, b"summary=").unwrap_or_default());
        let mut table = Draft::new(self.title.clone(), std::mem::take(&mut self.above), self.line);
        table.summary = squeezed(&summary);
        self.table = Some(table);
    }

    fn end_table(&mut self) {
        self.end_row();
        let heads = std::mem::take(&mut self.heads);
        self.hanging.clear();
        self.place = Place::Outside;
        if let Some(mut table) = self.table.take() {
            table.names = names(&heads);
            if !(table.is_empty() && table.names.is_empty() && table.above.is_empty()) {
                self.drafts.push(table);
            }
        }
    }

    fn open_cell(&mut self, is_head: bool, attributes: &[u8]) {
        if self.table.is_none() {
            return;
        }
        self.close_cell();
        self.row.push(Cell {
            begin: self.row_text.len(),
            end: self.row_text.len(),
            is_head,
            columns: span(attributes, b"colspan").min(MOST_COLUMNS),
            rows: span(attributes, b"rowspan").min(MOST_ROWS),
        });
        self.place = Place::Cell;
    }

    fn close_cell(&mut self) {
        if self.place == Place::Cell {
            self.place = Place::Outside;
            if let Some(cell) = self.row.last_mut() {
                cell.end = self.row_text.len();
            }
        }
    }

    fn end_row(&mut self) {
        self.close_cell();
        let (row, text) = (std::mem::take(&mut self.row), std::mem::take(&mut self.row_text));
        let is_empty = self.table.as_ref().is_none_or(Draft::is_empty);
        let blank = |cell: &Cell| text[cell.begin..cell.end].trim().is_empty();
        let are_heads = row.iter().any(|cell| cell.is_head) && row.iter().all(|cell| cell.is_head || blank(cell));
        if are_heads && is_empty {
            self.head_row(&row, &text);
        } else if !are_heads && !row.is_empty() {
            self.data_row(&row, &text);
        }
        // Their memory is used again.
        (self.row, self.row_text) = (row, text);
        self.row.clear();
        self.row_text.clear();
    }

    /// Places a row of headings: from where to where each reaches.
    fn head_row(&mut self, row: &[Cell], text: &str) {
        let mut placed = Vec::new();
        let mut column = 0;
        for cell in row {
            while let Some(at) = self
                .hanging
                .iter()
                .position(|hanging| hanging.column == column && hanging.rows > 0)
            {
                self.hanging[at].rows -= 1;
                column += 1;
            }
            let end = (column + cell.columns).min(MOST_COLUMNS * 4);
            placed.push((column, end, squeezed(&text[cell.begin..cell.end])));
            for below in column..end {
                if cell.rows > 1 {
                    self.hang(below, cell.rows - 1, String::new());
                }
            }
            column = end;
        }
        self.heads.push(placed);
    }

    fn hang(&mut self, column: usize, rows: usize, text: String) {
        self.hanging.retain(|hanging| hanging.rows > 0);
        if self.hanging.len() < MOST_COLUMNS {
            self.hanging.push(Hanging { column, rows, text });
        }
    }

    fn data_row(&mut self, row: &[Cell], text: &str) {
        let Some(mut table) = self.table.take() else { return };
        if table.is_empty() {
            self.hanging.clear(); // what hung down from headings
        }
        let mut column = 0;
        for cell in row {
            column = self.fill(&mut table, column);
            let plain = squeezed(&text[cell.begin..cell.end]);
            table.cell(&plain);
            for _ in 1..cell.columns {
                table.cell("");
            }
            if cell.rows > 1 {
                self.hang(column, cell.rows - 1, plain);
            }
            column += cell.columns;
        }
        self.fill(&mut table, column);
        table.end_row();
        self.table = Some(table);
    }

    /// Cells from rows above that reach into this column and the ones after.
    fn fill(&mut self, table: &mut Draft, mut column: usize) -> usize {
        let hanging = &mut self.hanging;
        while let Some(cell) = hanging.iter_mut().find(|cell| cell.column == column && cell.rows > 0) {
            table.cell(&cell.text);
            cell.rows -= 1;
            column += 1;
        }
        column
    }
}

/// Where a tag that begins at `open` ends; the byte after `open` when it is no tag.
fn tag_end(content: &[u8], open: usize) -> usize {
    let rest = &content[open + 1..content.len().min(open + LONGEST_TAG)];
    match rest.first() {
        Some(b'!') if rest.starts_with(b"!--") => {
            return memmem::find(&content[open..], b"-->").map_or(open + 4, |end| open + end + 3);
        }
        Some(first) if first.is_ascii_alphabetic() || matches!(first, b'/' | b'!' | b'?') => {}
        _ => return open + 1,
    }
    let mut quote = None;
    for (at, &byte) in rest.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return open + at + 2,
            (None, b'"' | b'\'') if rest[at - 1] == b'=' => quote = Some(byte),
            (Some(mark), _) if mark == byte => quote = None,
            _ => {}
        }
    }
    // A quotation mark that is not closed: the first sign that could end the tag does.
    memchr(b'>', rest).map_or(open + 1, |end| open + end + 2)
}

/// The value of an attribute, without its quotes; `name` is in small letters and ends with the equals sign.
fn attribute<'a>(tag: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let found = tag
        .windows(name.len())
        .position(|part| part.eq_ignore_ascii_case(name))?;
    let value = &tag[found + name.len()..];
    Some(match value.first() {
        Some(&mark @ (b'"' | b'\'')) => {
            let value = &value[1..];
            &value[..memchr(mark, value).unwrap_or(value.len())]
        }
        _ => {
            let end = value
                .iter()
                .position(|byte| byte.is_ascii_whitespace() || *byte == b'>');
            &value[..end.unwrap_or(value.len())]
        }
    })
}

/// How many columns or rows a cell takes: only what stands before an equals sign is looked at, for cells are many.
fn span(attributes: &[u8], name: &[u8]) -> usize {
    let mut signs = memchr_iter(b'=', attributes);
    let found =
        signs.find(|&sign| sign >= name.len() && attributes[sign - name.len()..sign].eq_ignore_ascii_case(name));
    let value = found.map(|sign| attributes[sign + 1..].trim_ascii_start());
    let digits = value.map(|value| value.strip_prefix(b"\"").unwrap_or(value).trim_ascii_start());
    let digits = digits.and_then(|value| value.chunk_by(|a, b| a.is_ascii_digit() && b.is_ascii_digit()).next());
    let count = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    count.unwrap_or(1).max(1)
}

/// Names of columns from rows of headings: what stands above a column, from top to bottom.
fn names(heads: &[Vec<(usize, usize, String)>]) -> Vec<String> {
    let width = heads.iter().flatten().map(|&(_, end, _)| end).max().unwrap_or(0);
    let mut names = vec![String::new(); width];
    for (begin, end, text) in heads.iter().flatten() {
        for name in &mut names[*begin..*end] {
            if !text.is_empty() && name != text {
                if !name.is_empty() {
                    name.push(' ');
                }
                name.push_str(text);
            }
        }
    }
    names
}

/// Text with its blanks (and line ends, and blanks that do not break) as single ones, and none around it.
fn squeezed(text: &str) -> String {
    let text = text.trim();
    let bytes = text.as_bytes();
    let plain = |pair: &[u8]| !(pair[0] == b' ' && pair[1] == b' ') && pair[1] >= b' ' && pair[1] < 0x80;
    if bytes.windows(2).all(plain) {
        return text.to_string();
    }
    let mut squeezed = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !squeezed.is_empty() {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
    }
    squeezed
}

/// Appends text with its entities resolved.
fn append(to: &mut String, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut rest = &*text;
    while let Some(at) = memchr(b'&', rest.as_bytes()) {
        to.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match memchr(b';', &rest.as_bytes()[..rest.len().min(10)]) {
            Some(end) if entity(&rest[1..end]).is_some_and(|letter| push(to, letter)) => end + 1,
            _ => {
                to.push('&');
                1
            }
        };
        rest = &rest[length..];
    }
    to.push_str(rest);
}

fn push(to: &mut String, letter: char) -> bool {
    to.push(letter);
    true
}

fn entity(name: &str) -> Option<char> {
    if let Some(code) = name.strip_prefix('#') {
        let number = match code.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => code.parse().ok()?,
        };
        return char::from_u32(number).filter(|letter| *letter != '\0');
    }
    Some(match name {
        "nbsp" => ' ',
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(html: &str) -> Scan {
        let mut scan = Scan::default();
        scan.run(html.as_bytes());
        scan
    }

    #[test]
    fn headings_of_two_rows_are_one_name() {
        let scan = scanned(
            "<h3>Waits</h3><table><tr><th></th><th colspan=2>CR</th></tr><tr><th>I#</th><th>Waits</th><th>Avg</th></tr>\
             <tr><td rowspan=2>1</td><td>5</td><td>&lt;1</td></tr><tr><td>6<td>7</table>",
        );
        assert_eq!(scan.drafts[0].title, "Waits");
        assert_eq!(scan.drafts[0].names, ["I#", "CR Waits", "CR Avg"]);
    }

    #[test]
    fn nothing_that_is_cut_off_or_wrong_stops_it() {
        let whole = "<h3 class='x'>A &amp; B</h3>words<table summary=\"s>=1\"><tr><th id=\">=2us\" x=1>&gt;=2us</th></tr>\
                     <tr><td colspan=\" 99999999999\">1 &#1234567; <b</td></tr></table><!-- x";
        for end in 0..whole.len() {
            scanned(&whole[..end]);
            scanned(&whole[end..]);
        }
        scanned(&"<table><tr><td rowspan=9 colspan=9>".repeat(10_000));
    }
}
