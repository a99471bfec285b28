//! Rows of `event`.

use std::collections::HashSet;

use arrow_schema::ArrowError;

use super::interval::Interval;
use crate::batch::Batch;
use crate::sheet::{Layouts, Sheet, columns};

columns!(EventColumns {
    kind,
    subject,
    text,
    hint
});

/// What happened, and what could not be seen; the latter is said once.
pub struct Events {
    sheet: Sheet<EventColumns>,
    said: HashSet<String>,
    ts_us: i64,
}

impl Events {
    pub fn new(host: &str, layouts: &Layouts) -> Result<Self, ArrowError> {
        Ok(Self {
            sheet: Sheet::new("event", host, layouts)?,
            said: HashSet::new(),
            ts_us: 0,
        })
    }

    /// Sets the time of the events that follow.
    pub fn at(&mut self, interval: &Interval) {
        self.ts_us = interval.ts_us;
    }

    /// Something cannot be read: why, and how to grant it.
    pub fn not_measured(&mut self, subject: &str, text: &str, hint: &str) {
        if self.said.insert(subject.to_string()) {
            self.add("not measured", subject, text, Some(hint));
        }
    }

    /// The counters of `subject` went down: it was restarted, or replaced under the same name.
    pub fn restart(&mut self, subject: &str) {
        self.add(
            "restart",
            subject,
            "Its counters went down; no rate is given for this interval.",
            None,
        );
    }

    pub fn add(&mut self, kind: &str, subject: &str, text: &str, hint: Option<&str>) {
        let columns = self.sheet.columns;
        self.sheet.begin_at(self.ts_us);
        self.sheet.str(columns.kind, kind);
        self.sheet.str(columns.subject, subject);
        self.sheet.str(columns.text, text);
        self.sheet.str(columns.hint, hint);
        self.sheet.end();
    }

    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        self.sheet.finish(batches)
    }
}
