//! Rows of a table that has one for each moment and thing, filled by several switches of sar.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use super::interner::Interner;
use super::tables::Moment;
use crate::table::{Layout, TableBuilder};

struct Row {
    ts_us: i64,
    interval_s: Option<f64>,
    host: Option<u32>,
    item: Option<u32>,
}

impl Row {
    fn key(&self) -> Key {
        (self.ts_us, self.host, self.item)
    }
}

type Key = (i64, Option<u32>, Option<u32>);

pub struct Grid {
    pub table: &'static str,
    layout: Layout,
    /// The largest value of each column.
    most: Vec<f64>,
    builder: TableBuilder,
    rows: Vec<Row>,
    /// The columns of each row one after another; NaN is null.
    values: Vec<f64>,
    found: HashMap<Key, usize>,
    /// The column that holds the item of each row; nothing where rows are about the whole.
    keys: Vec<Option<usize>>,
    latest: usize,
}

impl Grid {
    pub fn new(table: &'static str, layout: &Layout, most: Option<&HashMap<String, f64>>) -> Result<Self, ArrowError> {
        let most_of = |column: &String| most.and_then(|most| most.get(column)).copied();
        Ok(Self {
            table,
            layout: layout.clone(),
            most: layout
                .iter()
                .map(|(column, _)| most_of(column).unwrap_or(f64::INFINITY))
                .collect(),
            builder: TableBuilder::new(table, layout)?,
            rows: Vec::new(),
            values: Vec::new(),
            found: HashMap::new(),
            keys: Vec::new(),
            latest: 0,
        })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn column(&self, name: &str) -> Result<usize, ArrowError> {
        self.builder.column(name)
    }

    /// Why a column cannot hold a value, in the words of Python's `read/plausible.py`; NaN is none.
    pub fn fault(&self, column: usize, value: f64, least: f64) -> Option<String> {
        let (name, most) = (&self.layout[column].0, self.most[column]);
        match value {
            value if value < least => Some(format!("{name} below 0 cannot be")),
            value if value > most => Some(format!("{name} above {most} cannot be")),
            _ => None,
        }
    }

    /// The values of a row, which is made where there is none; `key` is the column of the item.
    pub fn row(&mut self, moment: &Moment, key: Option<usize>, item: Option<u32>) -> &mut [f64] {
        let wanted = (moment.ts_us, moment.host, item);
        let width = self.layout.len();
        if self.rows.get(self.latest).is_none_or(|row| row.key() != wanted) {
            self.latest = *self.found.entry(wanted).or_insert_with(|| {
                self.rows.push(Row {
                    ts_us: moment.ts_us,
                    interval_s: moment.interval_s,
                    host: moment.host,
                    item,
                });
                self.keys.push(key);
                self.values.resize(self.values.len() + width, f64::NAN);
                self.rows.len() - 1
            });
        }
        &mut self.values[self.latest * width..][..width]
    }

    /// Rows that are not of this moment (all when none is given) as a batch; nothing when there are none.
    pub fn take(&mut self, but_us: Option<i64>, texts: &Interner) -> Result<Option<RecordBatch>, ArrowError> {
        let end = match but_us {
            Some(moment) => self
                .rows
                .iter()
                .rposition(|row| row.ts_us != moment)
                .map_or(0, |last| last + 1),
            None => self.rows.len(),
        };
        let width = self.layout.len();
        for (number, row) in self.rows[..end].iter().enumerate() {
            self.builder.i64(0, Some(row.ts_us));
            self.builder.f64(1, row.interval_s);
            self.builder.str(2, row.host.map(|host| texts.text(host)));
            let key = self.keys[number];
            let values = &self.values[number * width..][..width];
            for (column, value) in values
                .iter()
                .enumerate()
                .skip(3)
                .filter(|&(column, _)| Some(column) != key)
            {
                if !value.is_nan() {
                    self.builder.f64(column, Some(*value));
                }
            }
            if let (Some(key), Some(item)) = (key, row.item.map(|item| texts.text(item))) {
                match self.layout[key].1.as_str() {
                    "str" => self.builder.str(key, Some(item)),
                    _ => self.builder.i64(key, item.parse().ok()),
                }
            }
            self.builder.end_row();
        }
        self.forget(end);
        self.builder.finish()
    }

    fn forget(&mut self, end: usize) {
        self.rows.drain(..end);
        self.keys.drain(..end);
        self.values.drain(..end * self.layout.len());
        self.latest = 0;
        self.found = self
            .rows
            .iter()
            .enumerate()
            .map(|(number, row)| (row.key(), number))
            .collect();
    }
}
