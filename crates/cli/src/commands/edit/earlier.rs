//! The earlier spelling of `--private`, which version 0.2 removes.

use std::ffi::OsString;

/// Returns the arguments with `--private=yes` instead of the earlier `--private yes`.
pub(crate) fn respelled(args: &[OsString]) -> Vec<OsString> {
    let mut respelled: Vec<OsString> = Vec::with_capacity(args.len());
    let mut args = args.iter().cloned();
    for arg in args.by_ref() {
        if arg == "--" {
            respelled.push(arg);
            break;
        }
        let is_value = arg == "yes" || arg == "no";
        match respelled.last_mut() {
            Some(option) if is_value && is_private(option) => {
                option.push("=");
                option.push(arg);
            }
            _ => respelled.push(arg),
        }
    }
    respelled.extend(args);
    respelled
}

/// Returns `true` for `--private`, `-p`, and `-p` after the letters of switches.
fn is_private(arg: &OsString) -> bool {
    let letters = arg.to_str().and_then(|arg| arg.strip_prefix('-'));
    let switches = letters.and_then(|letters| letters.strip_suffix('p'));
    arg == "--private" || switches.is_some_and(|letters| letters.chars().all(|c| "fy".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_after_the_option() {
        for (line, expected) in [
            ("edit -p yes a", "edit -p=yes a"),
            ("edit a -p no", "edit a -p=no"),
            ("edit -yp no a", "edit -yp=no a"),
            ("edit --private no --yes", "edit --private=no --yes"),
            ("edit -p=0 no", "edit -p=0 no"),
            ("edit -p a", "edit -p a"),
            ("edit -c yes", "edit -c yes"),
            ("edit -p -- yes -p no", "edit -p -- yes -p no"),
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(respelled(&args).join(" ".as_ref()), expected);
        }
    }
}
