//! A value as arguments, checked by the option's own parser.

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::builder::{BoolishValueParser, TypedValueParser as _};
use clap::{Arg, ArgAction};
use hashlane_config::{Data, Error, Origin, ServerAddress, Value};

use super::keys::is_switch;
use crate::clap_text::words;

/// Returns the arguments that set an option to a value. A switch that is off has none.
pub(super) fn arguments(arg: &Arg, value: &Value) -> Result<Vec<OsString>, Error> {
    let name = arg.get_long().unwrap_or_default();
    let invalid = |origin: &Origin, reason: String| Error::Value {
        origin: origin.clone(),
        reason: format!("{name}: {reason}"),
    };
    if is_switch(arg) {
        let is_on = match &value.data {
            Data::Bool(is_on) => Some(*is_on),
            Data::Variable(text) => {
                let command = clap::Command::new("hashlane");
                BoolishValueParser::new()
                    .parse_ref(&command, None, text)
                    .ok()
            }
            _ => None,
        };
        let Some(is_on) = is_on else {
            let found = described(&value.data);
            let reason = format!("expected true or false, found {found}");
            return Err(invalid(&value.origin, reason));
        };
        return Ok(is_on
            .then(|| format!("--{name}").into())
            .into_iter()
            .collect());
    }
    let is_list = matches!(arg.get_action(), ArgAction::Append);
    let items = match &value.data {
        Data::Array(items) if is_list => items.clone(),
        // Each line of a variable is an item.
        Data::Variable(text) if is_list => {
            let lines = text
                .to_str()
                .map(|text| text.lines().map(OsString::from).collect());
            let lines: Vec<OsString> = lines.unwrap_or_else(|| vec![text.clone()]);
            let item = |line| Value {
                data: Data::Variable(line),
                origin: value.origin.clone(),
            };
            lines.into_iter().map(item).collect()
        }
        _ => vec![value.clone()],
    };
    let kind = arg.get_value_parser().type_id();
    let mut arguments = Vec::new();
    for Value { data, origin } in items {
        let text = text(&data).ok_or_else(|| {
            let found = described(&data);
            invalid(&origin, format!("expected one value, found {found}"))
        })?;
        let text = if kind == TypeId::of::<PathBuf>() {
            origin.resolve(&text).into()
        } else if kind == TypeId::of::<ServerAddress>() {
            resolved(&origin, text)
        } else {
            text
        };
        let mut argument = OsString::from(format!("--{name}="));
        argument.push(text);
        check(arg, &argument).map_err(|reason| invalid(&origin, reason))?;
        arguments.push(argument);
    }
    Ok(arguments)
}

/// Returns the address of a server with a path of a Unix socket that does not depend on the working directory.
fn resolved(origin: &Origin, address: OsString) -> OsString {
    let path = address.to_str().and_then(|text| text.strip_prefix("unix:"));
    match path.filter(|path| !path.is_empty()) {
        Some(path) => {
            let mut resolved = OsString::from("unix:");
            resolved.push(origin.resolve(path.as_ref()));
            resolved
        }
        None => address,
    }
}

/// Returns a value as the text that the command line would have.
fn text(data: &Data) -> Option<OsString> {
    Some(match data {
        Data::Bool(value) => value.to_string().into(),
        Data::Integer(number) => number.to_string().into(),
        Data::Float(number) => number.to_string().into(),
        Data::String(text) | Data::Datetime(text) => text.into(),
        Data::Variable(text) => text.clone(),
        Data::Array(_) | Data::Table(_) => return None,
    })
}

fn described(data: &Data) -> String {
    match (data, text(data)) {
        (Data::Array(_), _) => "an array".to_owned(),
        (Data::Table(_), _) => "a table".to_owned(),
        (_, text) => format!("`{}`", text.unwrap_or_default().display()),
    }
}

/// Checks an argument as the command line checks it, and returns the same words.
fn check(arg: &Arg, argument: &OsStr) -> Result<(), String> {
    let mut alone = Arg::new(arg.get_id().clone())
        .long(arg.get_long().unwrap_or_default().to_owned())
        .action(arg.get_action().clone())
        .value_parser(arg.get_value_parser().clone())
        .require_equals(arg.is_require_equals_set())
        .hide_possible_values(arg.is_hide_possible_values_set());
    if let Some(names) = arg.get_value_names() {
        alone = alone.value_names(names.iter().cloned());
    }
    if let Some(delimiter) = arg.get_value_delimiter() {
        alone = alone.value_delimiter(delimiter);
    }
    if let Some(number) = arg.get_num_args() {
        alone = alone.num_args(number);
    }
    let command = clap::Command::new("hashlane")
        .no_binary_name(true)
        .arg(alone);
    let result = command.try_get_matches_from([argument]);
    result.map(|_| ()).map_err(|error| words(&error))
}
