//! Values that are refused.

use super::Folder;
use crate::fixture::end;

/// Files, commands that read them, and the errors.
const INVALID: [(&str, &str, &str); 16] = [
    (
        "[verify]\nthreds = 1",
        "verify",
        "line 2: unknown key `threds` in [verify]; did you mean `threads`?",
    ),
    (
        "[seed]\nmax-upp = 1",
        "verify",
        "line 2: unknown key `max-upp` in [seed]; did you mean `max-up`?",
    ),
    (
        "[verify]\nmax-down = 1",
        "verify",
        "line 2: unknown key `max-down` in [verify]; [network] has it",
    ),
    (
        "[recvoer]",
        "verify",
        "line 1: unknown table `recvoer`; did you mean `recover`?",
    ),
    (
        "threads = 1",
        "verify",
        "line 1: `threads` is a number outside a table; tables are verify, sum, create, get, seed, daemon, magnet, recover, hashing, network",
    ),
    (
        "[hashing]\n\nthreads = 5000",
        "verify",
        "line 3: threads: invalid value '5000' for '--threads <N>': 5000 is not in 1..=1024",
    ),
    (
        "[hashing]\nthreads = true",
        "sum",
        "line 2: threads: invalid value 'true' for '--threads <N>': invalid digit found in string",
    ),
    (
        "[hashing]\nthreads = [1]",
        "sum",
        "line 2: threads: expected one value, found an array",
    ),
    (
        "[hashing]\nthreads = { n = 1 }",
        "sum",
        "line 2: threads: expected one value, found a table",
    ),
    (
        "[sum]\nio = 'mmpa'",
        "sum",
        "line 2: io: invalid value 'mmpa' for '--io <METHOD>'; [possible values: auto, mmap, pread, direct]; tip: a similar value exists: 'mmap'",
    ),
    (
        "[sum]\nalgorithm = ['md5',\n'md6']",
        "sum",
        "line 3: algorithm: invalid value 'md6' for '--algorithm <NAME>': unknown algorithm",
    ),
    (
        "[sum]\ntag = 'yes'",
        "sum",
        "line 2: tag: expected true or false, found `yes`",
    ),
    (
        "[create]\ndate = 2024-01-01",
        "create",
        "line 2: date: invalid value '2024-01-01' for '--date <WHEN>': neither \"now\" nor seconds since 1970",
    ),
    (
        "[create]\npiece-length = '1MiB'\ntarget-pieces = 1",
        "create",
        "line 3: `target-pieces` and `piece-length` exclude each other (FILE: line 2)",
    ),
    (
        "[get]\nforce = true",
        "get",
        "line 2: `force` can only be given on the command line, as --force",
    ),
    (
        "[sum]\nio =",
        "sum",
        "line 2, column 5: string values must be quoted, expected literal string",
    ),
];

#[test]
fn errors_name_the_place_and_use_the_words_of_the_command_line() {
    for (text, command, expected) in INVALID {
        let folder = Folder::new(text);
        let error = folder.error(&[command, "x"]);
        assert!(
            error.starts_with(&format!("hashlane: FILE: {expected}")),
            "{text}: {error}"
        );
        assert_eq!(error.lines().count(), 1, "{error}");
        // The command that shows the configuration checks all tables.
        assert_eq!(folder.error(&["config"]), error);
    }
}

#[test]
fn values_of_other_tables_do_not_stop_a_command() {
    let folder = Folder::new("[seed]\nseed-ratio = -1\n");
    let ended = folder.run(&["sum", "config.toml"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    let error = folder.error(&["config", "sum"]);
    assert_eq!(
        error,
        "hashlane: FILE: line 2: seed-ratio: invalid value '-1' for '--seed-ratio <RATIO>': not a number above zero\n"
    );
}

#[test]
fn variables_are_checked_as_files_are() {
    let folder = Folder::new("");
    for (name, value, expected) in [
        (
            "HASHLANE_SUM_TAGS",
            "1",
            "unknown key `tags` in [sum]; did you mean `tag`?",
        ),
        (
            "HASHLANE_SUM_TAG",
            "maybe",
            "tag: expected true or false, found `maybe`",
        ),
        (
            "HASHLANE_HASHING_THREADS",
            "0",
            "threads: invalid value '0' for '--threads <N>': 0 is not in 1..=1024",
        ),
        ("HASHLANE_NETWORK_PROXY", "x", "`proxy` can hold a password"),
    ] {
        let mut command = folder.hashlane(&["sum", "config.toml"]);
        let ended = end(command.env(name, value));
        assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{name}");
        let start = format!("hashlane: {name}: {expected}");
        assert!(ended.stderr.starts_with(&start), "{}", ended.stderr);
    }
    for (name, value) in [
        ("HASHLANE_SUM_TAG", "on"),
        ("HASHLANE_SUM_ALGORITHM", "md5\nsha1"),
    ] {
        let mut command = folder.hashlane(&["sum", "config.toml"]);
        let ended = end(command.env(name, value).env("HASHLANE_OTHER", "ignored"));
        assert!(
            ended.stdout.contains(" (config.toml) = "),
            "{}",
            ended.stdout
        );
        let lines = value.lines().count();
        assert_eq!(ended.stdout.lines().count(), lines);
    }
}
