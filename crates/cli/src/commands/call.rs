//! Programs that can also be called by their own names instead of `hashlane`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::getopt::Spec;

/// The text for a man page of such a program, and its options for completions.
#[derive(Debug)]
pub(super) struct Page {
    /// The program's name. The page is named `hashlane-NAME`, so that it does not hide the page of another package.
    pub(super) name: &'static str,
    pub(super) about: String,
    /// The text of `--help`.
    pub(super) help: String,
    pub(super) options: Vec<Flag>,
}

/// An option of such a program, for completions.
#[derive(Debug)]
pub(super) struct Flag {
    pub(super) short: Option<char>,
    pub(super) long: Option<&'static str>,
    pub(super) takes_value: bool,
    /// The values, if they are known.
    pub(super) values: Vec<String>,
}

impl<O> From<&Spec<O>> for Flag {
    fn from(spec: &Spec<O>) -> Self {
        Self {
            short: spec.short.map(char::from),
            long: spec.long,
            takes_value: spec.takes_value,
            values: Vec::new(),
        }
    }
}

/// The call of such a program.
#[derive(Debug)]
pub(super) struct Call<'a, P> {
    pub(super) program: P,
    /// The name or path in the call.
    pub(super) called: &'a OsStr,
    /// The arguments after the name.
    pub(super) args: &'a [OsString],
}

impl<'a, P> Call<'a, P> {
    /// Finds the program that the name of the process calls, which is a link to `hashlane`.
    pub(super) fn by_link(
        args: &'a [OsString],
        of_name: impl Fn(&OsStr) -> Option<P>,
    ) -> Option<Self> {
        let (called, args) = args.split_first()?;
        let program = Path::new(called).file_name().and_then(of_name)?;
        Some(Self {
            program,
            called,
            args,
        })
    }

    /// Finds the program that the arguments of a process call: by the name of the process, which is a link to
    /// `hashlane`, or by the first argument.
    pub(super) fn find(
        args: &'a [OsString],
        of_name: impl Fn(&OsStr) -> Option<P>,
    ) -> Option<Self> {
        Self::by_link(args, &of_name).or_else(|| {
            let (called, args) = args.get(1..)?.split_first()?;
            Some(Self {
                program: of_name(called)?,
                called,
                args,
            })
        })
    }
}
