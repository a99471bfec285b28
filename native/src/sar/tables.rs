//! The rows that the figures of sar make: those of one moment come together, whichever switch printed them.

use std::collections::{HashMap, HashSet};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use super::Done;
use super::block::{Block, Figure, Kind, Named, Target};
use super::derived;
use super::grid::Grid;
use super::interner::Interner;
use super::statistics::Statistics;
use super::vocabulary::{Heading, Meaning};
use crate::batch::Batch;
use crate::sheet::{Layouts, Sheet, columns, layout};

/// Tables with one row for each moment and thing.
const GRIDS: [&str; 5] = ["cpu", "memory", "disk", "network", "filesystem"];
const CPU: usize = 0;

/// When a line was, how long before it began, and what it came from.
#[derive(Clone, Copy)]
pub struct Moment {
    pub ts_us: i64,
    pub interval_s: Option<f64>,
    pub host: Option<u32>,
    pub component: u32,
}

/// What no figure is below, and what those of a column, by table, are not above.
pub type Limits = (f64, HashMap<String, HashMap<String, f64>>);

columns!(EventColumns { kind, subject, text });

pub struct Tables {
    pub texts: Interner,
    /// Lines that could not be used, and why.
    pub skipped: Vec<(u64, String)>,
    grids: Vec<Grid>,
    least: f64,
    statistics: Statistics,
    events: Sheet<EventColumns>,
    told: HashSet<(i64, String)>,
    host: Option<u32>,
    component: u32,
    latest_us: i64,
}

/// What a line about a CPU is about.
enum Cpu {
    All,
    Number(u32),
    Other,
}

impl Tables {
    pub fn new(layouts: &Layouts, (least, most): &Limits) -> Result<Self, ArrowError> {
        let mut texts = Interner::default();
        Ok(Self {
            component: texts.number("kernel"),
            texts,
            skipped: Vec::new(),
            grids: GRIDS
                .iter()
                .map(|table| Grid::new(table, layout(table, layouts)?, most.get(*table)))
                .collect::<Result<_, _>>()?,
            least: *least,
            statistics: Statistics::new(layout("statistic", layouts)?)?,
            events: Sheet::new("event", None, layouts)?,
            told: HashSet::new(),
            host: None,
            latest_us: i64::MIN,
        })
    }

    /// What the lines from here on come from: the host, and whose figures they are (`kernel`, `solaris`, ...).
    pub fn comes_from(&mut self, host: Option<&str>, component: &str) {
        self.events.comes_from(host);
        self.host = host.map(|host| self.texts.number(host));
        self.component = self.texts.number(component);
    }

    pub fn moment(&self, ts_us: i64, interval_s: Option<f64>) -> Moment {
        Moment {
            ts_us,
            interval_s,
            host: self.host,
            component: self.component,
        }
    }

    pub fn block(&mut self, heading: &Heading) -> Result<Block, ArrowError> {
        let activity = heading.activity;
        let grid = activity
            .table
            .as_ref()
            .and_then(|table| GRIDS.iter().position(|grid| grid == table));
        let columns = heading.columns.iter();
        Ok(Block {
            kind: Kind::of(&activity.name),
            grid,
            by_cpu: heading.key == Some("cpu"),
            key: match (grid, heading.key) {
                (Some(grid), Some(key)) => Some(self.grids[grid].column(key)?),
                _ => None,
            },
            item: heading.item,
            figures: columns
                .map(|column| column.as_ref().map(|meaning| self.figure(grid, meaning)).transpose())
                .collect::<Result<_, _>>()?,
        })
    }

    pub fn figure(&mut self, grid: Option<usize>, meaning: &Meaning) -> Result<Figure, ArrowError> {
        let mut targets = Vec::new();
        for to in meaning.to {
            if let Some(grid) = grid {
                targets.push(Target {
                    column: self.grids[grid].column(&to.column)?,
                    factor: to.factor,
                    adds: to.adds,
                });
            }
        }
        Ok(Figure {
            name: meaning.column.clone(),
            targets,
            statistic: meaning.statistic.as_ref().map(|statistic| Named {
                name: self.texts.number(&statistic.name),
                unit: statistic.unit.as_ref().map(|unit| self.texts.number(unit)),
                is_rate: statistic.is_rate,
            }),
            bytes: meaning.bytes,
        })
    }

    /// Takes the figures of a line, but where one cannot be, if its number is told; see `line`.
    pub fn numbered(&mut self, line: u64, moment: &Moment, block: &Block, item: Option<&str>, values: &[f64]) -> Done {
        match self.fault(block, values) {
            Some(why) => {
                self.skip(line, why);
                Ok(())
            }
            None => self.line(moment, block, item, values),
        }
    }

    fn fault(&self, block: &Block, values: &[f64]) -> Option<String> {
        let grid = &self.grids[block.grid?];
        block.figures.iter().zip(values).find_map(|(figure, &value)| {
            let targets = figure
                .iter()
                .flat_map(|figure| &figure.targets)
                .filter(|target| !target.adds);
            targets
                .into_iter()
                .find_map(|target| grid.fault(target.column, value * target.factor, self.least))
        })
    }

    /// Takes the figures of a line; NaN where there is none. `item` is what the line is about.
    pub fn line(&mut self, moment: &Moment, block: &Block, item: Option<&str>, values: &[f64]) -> Done {
        self.latest_us = moment.ts_us;
        match block.kind {
            Kind::Ignored => Ok(()),
            Kind::Interrupts => self.interrupts(moment, block, item.unwrap_or("sum"), values),
            // The shares of a CPU that runs add up to 100: this one is switched off.
            Kind::Cpu if values.iter().all(|&value| value == 0.0 || value.is_nan()) => Ok(()),
            _ => self.figures(moment, block, item, values),
        }
    }

    fn figures(&mut self, moment: &Moment, block: &Block, item: Option<&str>, values: &[f64]) -> Done {
        let cpu = item.filter(|_| block.by_cpu).map(cpu);
        let (in_grid, key, entity) = match (cpu, item) {
            (Some(Cpu::All), _) | (None, None) => (true, None, None),
            (Some(Cpu::Number(number)), _) => (
                true,
                Some(self.texts.number(&number.to_string())),
                Some(self.texts.number(&format!("CPU{number}"))),
            ),
            (Some(Cpu::Other), item) => (false, None, item.map(|item| self.texts.number(item))),
            (None, Some(item)) => {
                let item = Some(self.texts.number(item));
                (true, item, item)
            }
        };
        if let Some(grid) = block.grid.filter(|_| in_grid) {
            self.fill(grid, moment, block, key, values)?;
        }
        for (figure, &value) in block.figures.iter().zip(values).filter(|(_, value)| !value.is_nan()) {
            if let Some(named) = figure.as_ref().and_then(|figure| figure.statistic.as_ref()) {
                self.statistics.push(moment, named, entity, value);
            }
        }
        Ok(())
    }

    fn fill(&mut self, grid: usize, moment: &Moment, block: &Block, item: Option<u32>, values: &[f64]) -> Done {
        let grid = &mut self.grids[grid];
        let row = grid.row(moment, block.key, item);
        let figures = block.figures.iter().zip(values);
        for (figure, &value) in figures.filter(|(_, value)| !value.is_nan()) {
            for target in figure.iter().flat_map(|figure| &figure.targets) {
                let filled = &mut row[target.column];
                match target.adds {
                    false => *filled = value * target.factor,
                    true if filled.is_nan() => {}
                    true => *filled = tidy(*filled + value * target.factor),
                }
            }
        }
        for (column, value) in derived::columns(block, values) {
            let column = grid.column(column)?;
            grid.row(moment, block.key, item)[column] = value.unwrap_or(f64::NAN);
        }
        Ok(())
    }

    /// Interrupts have a line for each source, and columns for the CPUs that took them.
    fn interrupts(&mut self, moment: &Moment, block: &Block, source: &str, values: &[f64]) -> Done {
        let named = block
            .figures
            .iter()
            .flatten()
            .find_map(|figure| figure.statistic.as_ref());
        let mut next_cpu = 0;
        for (position, &value) in values
            .iter()
            .enumerate()
            .filter(|&(position, _)| Some(position) != block.item)
        {
            let column = block
                .figures
                .get(position)
                .and_then(Option::as_ref)
                .map(|figure| figure.name.as_str());
            let cpu = match column.map_or(Cpu::Number(next_cpu), cpu_of_column) {
                Cpu::Number(number) => {
                    next_cpu = number + 1;
                    Some(number)
                }
                _ => None,
            };
            if value.is_nan() {
                continue;
            }
            if source == "sum" {
                let item = cpu.map(|number| self.texts.number(&number.to_string()));
                let grid = &mut self.grids[CPU];
                let [key, column] = [grid.column("cpu"), grid.column("interrupts_per_s")];
                grid.row(moment, Some(key?), item)[column?] = value;
            } else if let Some(named) = named {
                // All CPUs are told: a share of none says nothing more.
                let entity = match cpu {
                    None => source.to_string(),
                    Some(_) if value == 0.0 => continue,
                    Some(number) => format!("{source} CPU{number}"),
                };
                self.statistics
                    .push(moment, named, Some(self.texts.number(&entity)), value);
            }
        }
        Ok(())
    }

    /// Something happened; said once, though each switch prints it.
    pub fn event(&mut self, moment: &Moment, kind: &str, text: &str) {
        if !self.told.insert((moment.ts_us, text.to_string())) {
            return;
        }
        let columns = self.events.columns;
        self.events.begin_at(moment.ts_us);
        self.events.str(columns.kind, kind);
        self.events.str(columns.subject, "system");
        self.events.str(columns.text, text);
        self.events.end();
    }

    pub fn skip(&mut self, line: u64, why: impl Into<String>) {
        self.skipped.push((line, why.into()));
    }

    /// Rows that wait to be taken, of the table with the most.
    pub fn waiting(&self) -> usize {
        let grids = self.grids.iter().map(Grid::len);
        grids.max().unwrap_or(0).max(self.statistics.len())
    }

    pub fn take_statistics(&mut self) -> Result<Vec<Batch>, ArrowError> {
        let rows = self.statistics.take(&self.texts)?;
        Ok(batch("statistic", rows).into_iter().collect())
    }

    /// All rows but those of the latest moment, to which others may come.
    pub fn take_but_the_latest(&mut self) -> Result<Vec<Batch>, ArrowError> {
        self.take(Some(self.latest_us))
    }

    pub fn take_all(&mut self) -> Result<Vec<Batch>, ArrowError> {
        self.take(None)
    }

    fn take(&mut self, but_us: Option<i64>) -> Result<Vec<Batch>, ArrowError> {
        let mut batches = Vec::new();
        for grid in &mut self.grids {
            let rows = grid.take(but_us, &self.texts)?;
            batches.extend(batch(grid.table, rows));
        }
        batches.extend(self.take_statistics()?);
        self.events.finish(&mut batches)?;
        Ok(batches)
    }
}

fn batch(table: &str, rows: Option<RecordBatch>) -> Option<Batch> {
    rows.map(|rows| Batch {
        table: table.to_string(),
        rows,
    })
}

/// `all` of sar, -1 of sadf -d, `-` of AIX, `system` of HP-UX; `cpu3` of sadf -p.
fn cpu(item: &str) -> Cpu {
    match item {
        "all" | "-1" | "-" | "system" => Cpu::All,
        other => match other.strip_prefix("cpu").unwrap_or(other).parse() {
            Ok(number) => Cpu::Number(number),
            Err(_) => Cpu::Other,
        },
    }
}

fn cpu_of_column(name: &str) -> Cpu {
    match name.strip_prefix("CPU").map(str::parse) {
        Some(Ok(number)) => Cpu::Number(number),
        _ => Cpu::All,
    }
}

/// What sums of decimals leave beyond what was printed is noise.
fn tidy(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
