//! PostgreSQL's jsonlog, version 15 on: an object in each line.

use std::borrow::Cow;

use serde::Deserialize;

use super::entry::{Entry, Severity};
use super::lines::{self, Part};
use super::messages;
use super::moment;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    timestamp: Cow<'a, str>,
    #[serde(borrow, default)]
    dbname: Cow<'a, str>,
    #[serde(borrow)]
    error_severity: Cow<'a, str>,
    #[serde(borrow, default)]
    state_code: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(borrow, default)]
    detail: Cow<'a, str>,
    #[serde(borrow, default)]
    context: Cow<'a, str>,
    #[serde(borrow, default)]
    statement: Cow<'a, str>,
}

/// Reads whole lines.
pub fn read(bytes: &[u8], part: &mut Part) {
    for (_, line) in lines::of(bytes) {
        part.lines += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let text = String::from_utf8_lossy(line);
        match serde_json::from_str::<Message>(&text) {
            Ok(message) => take(&message, part),
            Err(_) => part.skip("no message of a jsonlog"),
        }
    }
}

fn take(message: &Message, part: &mut Part) {
    let Some((moment, _)) = moment::at_begin(message.timestamp.as_bytes(), &mut part.tally.zones) else {
        return part.skip("no time in it");
    };
    let Some(severity) = Severity::of_any(message.error_severity.as_bytes()) else {
        return part.skip("a severity that is not known");
    };
    let entry = Entry {
        sqlstate: message.state_code.as_bytes(),
        database: message.dbname.as_bytes(),
        message: message.message.as_bytes(),
        detail: message.detail.as_bytes(),
        context: message.context.as_bytes(),
        statement: message.statement.as_bytes(),
        ..Entry::new(moment, severity)
    };
    messages::take(&entry, part);
}
