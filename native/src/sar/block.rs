//! The columns of one heading, found in the tables that they fill.

/// What is worked out beyond single figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Cpu,
    Disk,
    FileSystem,
    Ignored,
    Interrupts,
    Memory,
    Queue,
}

impl Kind {
    pub fn of(name: &str) -> Self {
        match name {
            "cpu" => Self::Cpu,
            "disk" => Self::Disk,
            "filesystem" => Self::FileSystem,
            "ignored" => Self::Ignored,
            "interrupts" => Self::Interrupts,
            "memory" => Self::Memory,
            "queue" => Self::Queue,
            _ => Self::Plain,
        }
    }
}

/// A column that a figure fills, times a factor; or to which it is added, where something is there.
pub struct Target {
    pub column: usize,
    pub factor: f64,
    pub adds: bool,
}

/// A statistic: its name and unit as the sheet's texts.
pub struct Named {
    pub name: u32,
    pub unit: Option<u32>,
    pub is_rate: bool,
}

pub struct Figure {
    pub name: String,
    pub targets: Vec<Target>,
    pub statistic: Option<Named>,
    pub bytes: f64,
}

/// The columns under a heading. A column without a figure is no number, or left out.
pub struct Block {
    pub kind: Kind,
    /// The table's rows in the sheet.
    pub grid: Option<usize>,
    /// The column of the table that says what a line is about.
    pub key: Option<usize>,
    /// Whether lines are about CPUs.
    pub by_cpu: bool,
    pub item: Option<usize>,
    pub figures: Vec<Option<Figure>>,
}

impl Block {
    /// The value of a column in a line; nothing when it is not there, or was not measured.
    pub fn value(&self, name: &str, values: &[f64]) -> Option<f64> {
        let named = |figure: &Option<Figure>| figure.as_ref().is_some_and(|figure| figure.name == name);
        let position = self.figures.iter().position(named)?;
        values.get(position).copied().filter(|value| !value.is_nan())
    }
}
