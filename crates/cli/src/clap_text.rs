//! Messages of clap without secrets.

use clap::error::{ContextKind, ContextValue};
use hashlane_metainfo::masked_url;

/// Returns a text in which the value that is not a URL, where the error says that one is expected, is masked like a URL.
pub(crate) fn without_bad_url(text: &str, error: &clap::Error) -> String {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let argument = context(ContextKind::InvalidArg).unwrap_or_default();
    match context(ContextKind::InvalidValue) {
        Some(value) if argument.contains("<URL") && !value.is_empty() => {
            let urls: Vec<String> = value.split(',').map(masked_url).collect();
            text.replace(value, &urls.join(","))
        }
        _ => text.to_owned(),
    }
}

/// Returns the message about an invalid value on one line, without the hint to the help.
pub(crate) fn words(error: &clap::Error) -> String {
    let text = without_bad_url(&error.render().to_string(), error);
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.lines().map(str::trim);
    let lines = lines.take_while(|line| !line.starts_with("For more information"));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}
