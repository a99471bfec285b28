//! PostgreSQL's jsonlog, version 15 on: an object in each line; also as CloudNativePG writes csvlog's columns, each
//! message a `record` within an object of its own.

use std::borrow::Cow;

use serde::Deserialize;

use super::entry::{Entry, Severity};
use super::lines::{self, Part};
use super::messages;
use super::moment;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, alias = "log_time")]
    timestamp: Cow<'a, str>,
    #[serde(borrow, default, alias = "database_name")]
    dbname: Cow<'a, str>,
    #[serde(borrow, default, alias = "user_name")]
    user: Cow<'a, str>,
    #[serde(borrow, default)]
    application_name: Cow<'a, str>,
    #[serde(borrow, default, alias = "connection_from")]
    remote_host: Cow<'a, str>,
    #[serde(borrow)]
    error_severity: Cow<'a, str>,
    #[serde(borrow, default, alias = "sql_state_code")]
    state_code: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(borrow, default)]
    detail: Cow<'a, str>,
    #[serde(borrow, default)]
    context: Cow<'a, str>,
    #[serde(borrow, default, alias = "query")]
    statement: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Wrapped<'a> {
    #[serde(borrow)]
    record: Message<'a>,
}

/// Reads whole lines.
pub fn read(bytes: &[u8], part: &mut Part) {
    for (_, line) in lines::of(bytes) {
        part.lines += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let text = String::from_utf8_lossy(line);
        let wrapped = || serde_json::from_str::<Wrapped>(&text).map(|wrapped| wrapped.record);
        match serde_json::from_str::<Message>(&text).or_else(|_| wrapped()) {
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
        user: message.user.as_bytes(),
        application: message.application_name.as_bytes(),
        client: message.remote_host.as_bytes(),
        message: message.message.as_bytes(),
        detail: message.detail.as_bytes(),
        context: message.context.as_bytes(),
        statement: message.statement.as_bytes(),
        ..Entry::new(moment, severity)
    };
    messages::take(&entry, part);
}
