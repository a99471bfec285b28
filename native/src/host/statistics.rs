//! Rows of `statistic`.

use arrow_schema::ArrowError;

use super::interval::Interval;
use crate::batch::Batch;
use crate::sheet::{Layouts, Sheet, columns};

columns!(StatisticColumns {
    component,
    entity,
    name,
    value,
    unit,
    kind
});

/// Named figures that have no table of their own.
pub struct Statistics {
    sheet: Sheet<StatisticColumns>,
}

/// What a statistic is about and called.
#[derive(Clone, Copy)]
pub struct Figure<'a> {
    pub component: &'a str,
    pub entity: Option<&'a str>,
    pub name: &'a str,
    pub unit: &'a str,
}

impl Statistics {
    pub fn new(host: &str, layouts: &Layouts) -> Result<Self, ArrowError> {
        Ok(Self {
            sheet: Sheet::new("statistic", host, layouts)?,
        })
    }

    /// A reading.
    pub fn gauge(&mut self, interval: &Interval, figure: Figure, value: f64) {
        self.sheet.begin_at(interval.ts_us);
        self.finish_row(figure, value, "gauge");
    }

    /// An increase per second over the interval.
    pub fn rate(&mut self, interval: &Interval, figure: Figure, value: f64) {
        self.sheet.begin(interval.ts_us, interval.rounded_s());
        self.finish_row(figure, value, "rate");
    }

    fn finish_row(&mut self, figure: Figure, value: f64, kind: &str) {
        let columns = self.sheet.columns;
        self.sheet.str(columns.component, figure.component);
        self.sheet.str(columns.entity, figure.entity);
        self.sheet.str(columns.name, figure.name);
        self.sheet.f64(columns.value, value);
        self.sheet.str(columns.unit, figure.unit);
        self.sheet.str(columns.kind, kind);
        self.sheet.end();
    }

    pub fn finish(&mut self, batches: &mut Vec<Batch>) -> Result<(), ArrowError> {
        self.sheet.finish(batches)
    }
}
