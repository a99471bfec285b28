//! How the cells of a column become numbers: `Reading`; and `ReportFigure`, a column whose numbers are rows.

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::figures::{microseconds, plain, time};

#[derive(Clone, Copy)]
pub enum Reading {
    Number { kilo: f64, by: f64 },
    Time { bare_us: f64, to_us: f64 },
}

impl Reading {
    /// Times in units of `to`; a cell that does not say its unit is in units of `bare`.
    pub fn time(bare: &str, to: &str) -> PyResult<Self> {
        let unit = |name: &str| {
            microseconds(name).ok_or_else(|| PyValueError::new_err(format!("{name:?} is no unit of time")))
        };
        Ok(Self::Time {
            bare_us: unit(bare)?,
            to_us: unit(to)?,
        })
    }

    pub fn of(self, cell: &str, comma: bool) -> Option<f64> {
        match self {
            Self::Number { kilo, by } => plain(cell, comma, kilo).map(|number| number * by),
            Self::Time { bare_us, to_us } => time(cell, comma, bare_us, to_us),
        }
    }
}

/// See `doctord._native.ReportFigure`.
#[pyclass(frozen, module = "doctord._native")]
pub struct ReportFigure {
    pub column: usize,
    pub reading: Reading,
    pub is_total: bool,
    pub texts: HashMap<String, String>,
}

#[pymethods]
impl ReportFigure {
    #[new]
    #[pyo3(signature = (column, texts=HashMap::new(), *, kilo=1000.0, by=1.0, bare="s", to=None, is_total=false))]
    fn new(
        column: usize,
        texts: HashMap<String, String>,
        kilo: f64,
        by: f64,
        bare: &str,
        to: Option<&str>,
        is_total: bool,
    ) -> PyResult<Self> {
        let reading = match to {
            Some(to) => Reading::time(bare, to)?,
            None => Reading::Number { kilo, by },
        };
        Ok(Self {
            column,
            reading,
            is_total,
            texts,
        })
    }
}
