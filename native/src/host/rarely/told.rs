//! What this collector tells: rows of statistic, setting and event, of one sample.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use arrow_schema::ArrowError;

use crate::batch::Batch;
use crate::host::events::Events;
use crate::host::interval::Interval;
use crate::host::setting::Settings;
use crate::host::statistics::{Figure, Statistics};
use crate::sheet::Layouts;

const GRANT: &str =
    "run as root, or grant CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH (doctord record --print-unit --with ptrace,files)";

pub struct Told {
    pub statistics: Statistics,
    pub settings: Settings,
    pub events: Events,
    pub interval: Interval,
    /// Settings that were told.
    known: HashMap<String, String>,
}

impl Told {
    pub fn new(host: &str, layouts: &Layouts, proc: &Path, sys: &Path, interval: Interval) -> Result<Self, ArrowError> {
        Ok(Self {
            statistics: Statistics::new(host, layouts)?,
            settings: Settings::new(proc, sys, host, layouts)?,
            events: Events::new(host, layouts)?,
            interval,
            known: HashMap::new(),
        })
    }

    /// What follows is of this interval.
    pub fn at(&mut self, interval: Interval) {
        self.events.at(&interval);
        self.interval = interval;
    }

    pub fn gauge<'a>(&mut self, entity: impl Into<Option<&'a str>>, name: &str, unit: &str, value: f64) {
        let figure = Figure {
            component: "kernel",
            entity: entity.into(),
            name,
            unit,
        };
        self.statistics.gauge(&self.interval, figure, value);
    }

    /// A setting, once and when it changes.
    pub fn setting(&mut self, name: &str, value: &str) {
        if !value.is_empty() && self.is_new(name, value) {
            self.settings.tell(&self.interval, "kernel", name, value, None);
        }
    }

    /// A setting of a process, likewise.
    pub fn of_process(&mut self, name: &str, value: &str) {
        if !value.is_empty() && self.is_new(name, value) {
            self.settings.tell(&self.interval, "process", name, value, None);
        }
    }

    /// The limits of a block device, once.
    pub fn device(&mut self, name: &str, folder: &Path) {
        if self.is_new(&format!("block.{name}"), "told") {
            self.settings.add_device(&self.interval, folder);
        }
    }

    fn is_new(&mut self, name: &str, value: &str) -> bool {
        self.known.insert(name.to_string(), value.to_string()).as_deref() != Some(value)
    }

    /// A process or file that is gone meanwhile is no error.
    pub fn refused(&mut self, subject: &str, error: &io::Error) {
        if !has_ended(error) {
            self.events.not_measured(subject, &error.to_string(), GRANT);
        }
    }

    pub fn finish(&mut self) -> Result<Vec<Batch>, ArrowError> {
        let mut batches = Vec::with_capacity(3);
        self.statistics.finish(&mut batches)?;
        self.settings.finish(&mut batches)?;
        self.events.finish(&mut batches)?;
        Ok(batches)
    }
}

pub fn has_ended(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}
