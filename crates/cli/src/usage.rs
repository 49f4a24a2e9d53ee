//! Help, and errors of the command line.

use std::ffi::OsString;

use clap::Parser as _;
use hashlane_metainfo::masked_text;

use crate::clap_text::without_bad_url;
use crate::commands::{Cli, UsageError};
use crate::output::text::Escaped;
use crate::{Env, Exit};

/// Prints the output if there is no command to run: the help, the version or an error.
pub(crate) fn print_help_or_error(env: &mut Env, error: &UsageError) -> anyhow::Result<Exit> {
    let error = match error {
        UsageError::Arguments(error) => error,
        UsageError::Config(error) => {
            env.error(&error.to_string());
            return Ok(Exit::NotChecked);
        }
    };
    if error.exit_code() == 0 {
        write!(env.stdout, "{}", rendered(error, env.color))?;
        Ok(Exit::Good)
    } else {
        let _ = write!(env.stderr, "{}", escaped(&env.args, error, env.color));
        Ok(Exit::NotChecked)
    }
}

fn rendered(error: &clap::Error, color: bool) -> String {
    let text = error.render();
    if color {
        text.ansi().to_string()
    } else {
        text.to_string()
    }
}

/// Returns clap's message, whose arguments do not steer a terminal and show no passwords of URLs.
///
/// clap mixes arguments with line ends and colours of its own. So the arguments are escaped first, and parsed
/// again for the message.
fn escaped(args: &[OsString], error: &clap::Error, color: bool) -> String {
    let hide = |text: &str| masked_text(&without_bad_url(text, error));
    let safe = args
        .iter()
        .map(|arg| Escaped(hide(&arg.to_string_lossy())).to_string());
    let safe: Vec<OsString> = safe.map(OsString::from).collect();
    if safe == args {
        return rendered(error, color);
    }
    match Cli::try_parse_from(safe) {
        Err(error) if error.exit_code() != 0 => rendered(&error, color),
        _ => escaped_text(args, &hide(rendered(error, false).trim_end())),
    }
}

/// Returns the message about arguments that are valid when they are escaped. Its line ends are clap's, unless an
/// argument has some.
fn escaped_text(args: &[OsString], text: &str) -> String {
    let has_lines = |arg: &OsString| arg.to_string_lossy().contains('\n');
    if args.iter().any(has_lines) {
        return format!("{}\n", Escaped(text));
    }
    let lines = text.lines().map(|line| format!("{}\n", Escaped(line)));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the message about an option whose argument contains `text`.
    fn message(args: &[&str], color: bool) -> String {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let error = Cli::try_parse_from(&args).unwrap_err();
        escaped(&args, &error, color)
    }

    #[test]
    fn arguments_are_escaped_and_the_layout_is_kept() {
        let bad = "\x1b[2J\u{9b}\u{202e}\nerror: other";
        let shown = "\\u{1b}[2J\\u{9b}\\u{202e}\\u{a}error: other";
        for args in [
            &["hashlane", bad][..],
            &["hashlane", "verify", "--io", bad, "a"],
            &["hashlane", "verify", &format!("--{bad}")],
            &["hashlane", "create", "a", "--piece-length", bad],
            &["hashlane", "get", "a", "--peer", bad],
        ] {
            let text = message(args, false);
            assert!(text.contains(shown), "{text}");
            assert!(text.lines().count() > 2, "{text}");
            assert!(!text.lines().any(|line| line.starts_with("error: other")));
            let colored = message(args, true);
            assert!(
                colored.contains(shown) && colored.contains("\x1b["),
                "{colored}"
            );
            assert!(!colored.contains("\x1b[2J"), "{colored}");
        }
    }

    #[test]
    fn invalid_urls_are_masked() {
        const KEY: &str = "0123456789abcdef0123456789abcdef";
        for (option, url, shown) in [
            (
                "--announce",
                "t.example/announce?passkey=short",
                "t.example/announce?passkey=***",
            ),
            (
                "--announce",
                &format!("http://t.example/{KEY}/a b"),
                "http://t.example/***/a b",
            ),
            (
                "--announce",
                &format!("http://t.example/?k=x {KEY}"),
                "http://t.example/?k=***",
            ),
            (
                "--web-seed",
                &format!("{KEY}@t.example/ "),
                "***@t.example/ ",
            ),
        ] {
            for args in [
                &["hashlane", "create", "a", option, url][..],
                &["hashlane", "create", "a", &format!("{option}={url}")],
            ] {
                let text = message(args, false);
                assert!(
                    text.contains(shown) && !text.contains(KEY) && !text.contains("short"),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn arguments_that_escaping_makes_valid() {
        let error = clap::Error::raw(clap::error::ErrorKind::ValueValidation, "a\nb\u{9b}");
        for (arg, expected) in [
            ("\n", "error: a\\u{a}b\\u{9b}\n"),
            ("\u{9b}", "error: a\nb\\u{9b}\n"),
        ] {
            let args = ["hashlane", "show", arg].map(OsString::from);
            assert_eq!(escaped(&args, &error, true), expected);
        }
    }
}
