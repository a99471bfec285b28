//! What sar's columns mean: the tables of `doctord.read.sysstat.activities` and `sections`, and how headings are looked up in
//! them.

use std::collections::{HashMap, HashSet};

use pyo3::prelude::*;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * 1024.0;

/// A column of a table that a figure fills, times a factor; or to which it is added, where something is there.
#[derive(FromPyObject)]
pub struct To {
    pub column: String,
    pub factor: f64,
    pub adds: bool,
}

/// One kind of figures: `doctord.read.sysstat.activities.Activity`.
#[derive(FromPyObject, Default)]
pub struct Activity {
    pub name: String,
    marks: HashSet<String>,
    by_item: Option<bool>,
    pub table: Option<String>,
    pub key: Option<String>,
    prefix: String,
    columns: HashMap<String, Vec<To>>,
    kept: HashSet<String>,
    left_out: HashSet<String>,
}

/// A section of sadf's JSON: `doctord.read.sysstat.sections.Section`.
#[derive(FromPyObject)]
struct Section {
    mark: String,
    pattern: String,
    named: HashMap<String, String>,
    items: Vec<String>,
    left_out: Vec<String>,
}

/// A unit and a kind: `rate` or `gauge`.
type Unit = (Option<String>, String);

#[pyclass(frozen, module = "doctord._native")]
pub struct SarVocabulary {
    activities: Vec<Activity>,
    sections: HashMap<String, Section>,
    /// Columns that say what a line is about.
    items: HashSet<String>,
    /// Columns that hold no figures.
    words: HashSet<String>,
    units: HashMap<String, Unit>,
    /// What a heading is that is like sar's, though no activity is known for it.
    other: Activity,
}

/// What a column is: the columns of a table that it fills, the statistic, and the bytes in its unit (for figures of
/// `sar --human` that bring a unit of their own).
pub struct Meaning<'a> {
    pub column: String,
    pub to: &'a [To],
    pub statistic: Option<Statistic>,
    pub bytes: f64,
}

pub struct Statistic {
    pub name: String,
    pub unit: Option<String>,
    pub is_rate: bool,
}

/// What is under a heading: the column of the activity's table that lines are about, the position of the column that names
/// it, and what the columns mean; nothing for a column without figures.
pub struct Heading<'a> {
    pub activity: &'a Activity,
    pub key: Option<&'a str>,
    pub item: Option<usize>,
    pub columns: Vec<Option<Meaning<'a>>>,
}

/// A key in a section of sadf's JSON.
pub enum Field<'a> {
    Item,
    Figure(Meaning<'a>),
    Nothing,
}

#[pymethods]
impl SarVocabulary {
    #[new]
    fn new(
        activities: Vec<Activity>,
        sections: HashMap<String, Section>,
        items: HashSet<String>,
        words: HashSet<String>,
        units: HashMap<String, Unit>,
    ) -> Self {
        Self {
            activities,
            sections,
            items,
            words,
            units,
            other: Activity {
                name: "other".to_string(),
                ..Activity::default()
            },
        }
    }

    /// The name of the activity whose heading has these columns. Whether each line is about one of several is told, or by the
    /// columns themselves.
    #[pyo3(name = "activity", signature = (columns, *, by_item=None))]
    fn activity_name(&self, columns: Vec<String>, by_item: Option<bool>) -> Option<&str> {
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let by_item = by_item.unwrap_or_else(|| self.item(&columns).is_some());
        find(&self.activities, &columns, by_item).map(|activity| activity.name.as_str())
    }
}

impl SarVocabulary {
    /// What is under a heading; nothing where no sar prints such. The machine's own activities go before all others.
    pub fn heading<'a>(&'a self, columns: &[&str], own: &'a [Activity]) -> Option<Heading<'a>> {
        let item = self.item(columns);
        let found = find(own, columns, item.is_some()).or_else(|| self.activity(columns, item.is_some()));
        let activity = found.filter(|known| item.is_none() || known.table.is_none() || known.key.is_some())?;
        let meanings = columns.iter().zip(told_apart(columns)).enumerate();
        Some(Heading {
            activity,
            key: match columns.contains(&"MOUNTPOINT") {
                true => Some("mount"),
                false => activity.key.as_deref(),
            },
            item,
            columns: meanings
                .map(|(position, (column, name))| match Some(position) == item {
                    true => None,
                    false => self.meaning(activity, column, &name),
                })
                .collect(),
        })
    }

    /// A section of sadf's JSON, whose keys are looked up one by one; nothing where it holds no figures itself.
    pub fn section(&self, name: &str) -> Option<Heading<'_>> {
        let activity = self.activity_of(self.sections.get(name)?)?;
        Some(Heading {
            activity,
            key: activity.key.as_deref(),
            item: None,
            columns: Vec::new(),
        })
    }

    pub fn field(&self, section: &str, key: &str) -> Field<'_> {
        let Some(section) = self.sections.get(section) else {
            return Field::Nothing;
        };
        let is_in = |keys: &[String]| keys.iter().any(|known| known == key);
        if is_in(&section.items) {
            return Field::Item;
        }
        let column = section.column(key);
        let activity = self.activity_of(section).filter(|_| !is_in(&section.left_out));
        let meaning = activity.and_then(|activity| self.meaning(activity, &column, &column));
        meaning.map_or(Field::Nothing, Field::Figure)
    }

    fn activity_of(&self, section: &Section) -> Option<&Activity> {
        self.activity(&[&section.mark], !section.items.is_empty())
    }

    fn activity(&self, columns: &[&str], by_item: bool) -> Option<&Activity> {
        let like_sar = |column: &&str| column.ends_with("/s") || column.starts_with('%') || column.starts_with("kb");
        let other = columns.iter().any(like_sar).then_some(&self.other);
        find(&self.activities, columns, by_item).or(other)
    }

    /// The column that says what a line is about: the first, or with `sar --pretty` the last.
    fn item(&self, columns: &[&str]) -> Option<usize> {
        let ends = [0, columns.len().saturating_sub(1)];
        ends.into_iter()
            .find(|&end| columns.get(end).is_some_and(|column| self.items.contains(*column)))
    }

    fn meaning<'a>(&self, activity: &'a Activity, column: &str, name: &str) -> Option<Meaning<'a>> {
        if activity.left_out.contains(column) || self.words.contains(column) {
            return None;
        }
        let to = activity.columns.get(column).map_or(&[][..], Vec::as_slice);
        let statistic = |name: String, (unit, kind): Unit| Statistic {
            name,
            unit,
            is_rate: kind == "rate",
        };
        Some(Meaning {
            column: column.to_string(),
            to,
            statistic: match activity.name.as_str() {
                "interrupts" => Some(statistic("sar.intr".to_string(), unit("per_s", "rate"))),
                _ if !to.is_empty() && !activity.kept.contains(column) => None,
                _ => Some(statistic(
                    format!("sar.{}{}", activity.prefix, name.strip_suffix("/s").unwrap_or(name)),
                    self.unit(column),
                )),
            },
            bytes: bytes(column),
        })
    }

    fn unit(&self, column: &str) -> Unit {
        match self.units.get(column) {
            Some(known) => known.clone(),
            None if column.ends_with("/s") && column.contains("kB") => unit("KiB_per_s", "rate"),
            None if column.ends_with("/s") => unit("per_s", "rate"),
            None if column.starts_with('%') => unit("pct", "gauge"),
            None if column.starts_with("kb") => unit("KiB", "gauge"),
            None if column.starts_with("MB") => unit("MiB", "gauge"),
            None => (None, "gauge".to_string()),
        }
    }
}

impl Section {
    /// What sar's text calls a key.
    fn column(&self, key: &str) -> String {
        if let Some(known) = self.named.get(key) {
            return known.clone();
        }
        match key.strip_suffix("-percent").or_else(|| key.strip_prefix("percent-")) {
            Some(share) => format!("%{share}"),
            None => self.pattern.replace("{}", key),
        }
    }
}

/// The first activity whose heading has these columns.
fn find<'a>(activities: &'a [Activity], columns: &[&str], by_item: bool) -> Option<&'a Activity> {
    activities.iter().find(|known| {
        columns.iter().any(|column| known.marks.contains(*column)) && known.by_item.is_none_or(|known| known == by_item)
    })
}

/// Names of columns; one that comes several times is named after the one before (`lg_mem.fail`).
fn told_apart(columns: &[&str]) -> Vec<String> {
    let mut owner = "";
    let named = columns.iter().map(|column| {
        if columns.iter().filter(|other| *other == column).count() == 1 {
            owner = column;
            column.to_string()
        } else {
            format!("{owner}.{column}")
        }
    });
    named.collect()
}

fn unit(name: &str, kind: &str) -> Unit {
    (Some(name.to_string()), kind.to_string())
}

fn bytes(column: &str) -> f64 {
    match column {
        _ if column.starts_with("kb") || column.contains("kB") => KIB,
        _ if column.starts_with("MB") => MIB,
        _ if column.contains("_sec/") => 512.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_text_calls_the_keys_of_a_section() {
        let memory = Section {
            mark: "kbmemfree".to_string(),
            pattern: "kb{}".to_string(),
            named: HashMap::from([("inactive".to_string(), "kbinact".to_string())]),
            items: Vec::new(),
            left_out: Vec::new(),
        };
        let columns = ["inactive", "memused-percent", "percent-used", "dirty"].map(|key| memory.column(key));
        assert_eq!(columns, ["kbinact", "%memused", "%used", "kbdirty"]);
    }

    #[test]
    fn columns_that_come_twice_have_the_name_of_the_one_before() {
        let columns = ["sml_mem", "alloc", "fail", "lg_mem", "alloc", "fail"];
        assert_eq!(told_apart(&columns)[4..], ["lg_mem.alloc", "lg_mem.fail"]);
    }
}
