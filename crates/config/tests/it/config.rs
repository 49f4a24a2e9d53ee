//! Files and variables, read and merged.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use hashlane_config::{Config, Data, FilePath, MAX_LEN, ShellCommand, Sources};
use serde::Deserialize;

#[cfg(unix)]
use crate::not_run::not_run;

const TABLES: [&str; 3] = ["verify", "network", "daemon"];

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Daemon {
    max_active: Option<u32>,
    ratio: Option<f64>,
    paused: bool,
    labels: Vec<String>,
    state: Option<FilePath>,
    on_complete: Option<ShellCommand>,
    start: Option<Start>,
    queue: Queue,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Queue {
    active: u16,
    uploads: u16,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Start {
    Paused,
    AtOnce,
}

/// A folder with a user's file and a system's file.
struct Files {
    folder: tempfile::TempDir,
    sources: Sources,
}

impl Files {
    fn new(user: &[u8], system: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str, text: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            Some(path)
        };
        let sources = Sources {
            user: place("user.toml", user),
            system: place("system.toml", system),
            home: Some("/home/someone".into()),
            ..Sources::default()
        };
        Self { folder, sources }
    }

    fn with_variables(mut self, variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter();
        self.sources.variables = variables
            .map(|(name, text)| (OsString::from(name), OsString::from(text)))
            .collect();
        self
    }

    fn load(&self) -> Result<Config, String> {
        Config::load(&self.sources, &TABLES).map_err(|error| error.to_string())
    }

    fn daemon(&self) -> Result<Daemon, String> {
        let table = self.load()?.table("daemon");
        table.map_err(|error| error.to_string())
    }

    fn user(&self) -> String {
        self.folder.path().join("user.toml").display().to_string()
    }
}

#[test]
fn a_stronger_layer_replaces_a_weaker_one_key_by_key() {
    let files = Files::new(
        b"[daemon]\nlabels = ['user']\nqueue.active = 2\n",
        b"[daemon]\nmax-active = 9\nratio = 1.5\nlabels = ['a', 'b']\n[daemon.queue]\nactive = 1\nuploads = 4\n",
    );
    let expected = |max_active| Daemon {
        max_active: Some(max_active),
        ratio: Some(1.5),
        labels: vec!["user".to_owned()],
        queue: Queue {
            active: 2,
            uploads: 4,
        },
        ..Daemon::default()
    };
    assert_eq!(files.daemon().unwrap(), expected(9));
    let files = files.with_variables(&[("HASHLANE_DAEMON_MAX_ACTIVE", "3")]);
    assert_eq!(files.daemon().unwrap(), expected(3));
}

#[test]
fn variables_have_the_types_of_their_keys() {
    let files = Files::new(b"", b"").with_variables(&[
        ("HASHLANE_DAEMON_MAX_ACTIVE", " 7 "),
        ("HASHLANE_DAEMON_RATIO", "2"),
        ("HASHLANE_DAEMON_PAUSED", "yes"),
        ("HASHLANE_DAEMON_LABELS", "one\ntwo, three"),
        ("HASHLANE_DAEMON_START", "at-once"),
        ("HASHLANE_DAEMON_STATE", "relative"),
        ("HASHLANE_DAEMON_ON_COMPLETE", "echo done"),
        ("HASHLANE_NAME", "not ours"),
        ("HASHLANE_DAEMON_QUEUE", ""),
        ("OTHER_DAEMON_RATIO", "3"),
    ]);
    let daemon = files.daemon().unwrap();
    assert_eq!(
        (daemon.max_active, daemon.ratio, daemon.paused),
        (Some(7), Some(2.0), true)
    );
    assert_eq!(daemon.labels, ["one", "two, three"]);
    assert_eq!(daemon.start, Some(Start::AtOnce));
    let state = PathBuf::from(daemon.state.unwrap());
    assert_eq!(state, Path::new("relative"));
    assert_eq!(daemon.on_complete.unwrap().as_str(), "echo done");
    for (name, text, reason) in [
        (
            "MAX_ACTIVE",
            "many",
            "max-active: invalid value `many`: invalid digit found in string",
        ),
        (
            "PAUSED",
            "perhaps",
            "paused: `perhaps` is neither true nor false",
        ),
        (
            "START",
            "later",
            "start: unknown value `later`; expected one of paused, at-once",
        ),
        ("RATIOS", "1", "unknown key `ratios`; did you mean `ratio`?"),
    ] {
        let name = format!("HASHLANE_DAEMON_{name}");
        let files = Files::new(b"", b"").with_variables(&[(&name, text)]);
        assert_eq!(files.daemon().unwrap_err(), format!("{name}: {reason}"));
    }
}

#[test]
fn errors_name_the_file_and_the_line() {
    for (text, reason) in [
        (
            "[daemon]\n\nmax-activ = 1",
            "line 3: unknown key `max-activ`; did you mean `max-active`?",
        ),
        (
            "[daemon.queue]\nzebra = 1",
            "line 2: unknown key `zebra`; expected one of active, uploads",
        ),
        (
            "[deamon]",
            "line 1: unknown table `deamon`; did you mean `daemon`?",
        ),
        (
            "\nratio = 1",
            "line 2: `ratio` is a number outside a table; tables are verify, network, daemon",
        ),
        (
            "[daemon]\nmax-active = 'two'",
            "line 2: max-active: invalid type: string \"two\", expected u32",
        ),
        (
            "[daemon]\nmax-active = -1",
            "line 2: max-active: invalid value: integer `-1`, expected u32",
        ),
        (
            "[daemon]\nlabels = [\n 'a',\n 3]",
            "line 4: invalid type: integer `3`, expected a string",
        ),
        (
            "[daemon]\nstart = 'late'",
            "line 2: start: unknown value `late`; expected one of paused, at-once",
        ),
        (
            "[daemon]\nmax-active = 99999999999999999999",
            "line 2: the number 99999999999999999999 does not fit into 64 bits",
        ),
        ("[daemon]\nratio = -nan", "line 2: -nan is not a number"),
        (
            "[daemon]\nratio = \n",
            "line 2, column 9: string values must be quoted, expected literal string",
        ),
        (
            "[daemon]\nratio = 1\nratio = 2\n",
            "line 3, column 1: duplicate key",
        ),
        (
            "[daemon]\n\u{fc} = 1",
            "line 2, column 1: invalid unquoted key, expected letters, numbers, `-`, `_`",
        ),
    ] {
        let files = Files::new(text.as_bytes(), b"");
        let error = files.daemon().unwrap_err();
        assert_eq!(error, format!("{}: {reason}", files.user()), "{text}");
    }
}

#[test]
fn files_that_cannot_be_read() {
    let files = Files::new(b"[verify]\n# \xff", b"");
    let not_utf8 = files.load().unwrap_err();
    assert_eq!(
        not_utf8,
        format!("{}: line 2: is not UTF-8 text", files.user())
    );

    let long = vec![b'#'; MAX_LEN as usize + 1];
    let files = Files::new(&long, b"");
    let error = files.load().unwrap_err();
    assert_eq!(error, format!("{}: is longer than 1 MiB", files.user()));
    assert!(Files::new(&long[1..], b"").load().is_ok());

    let nested = format!("[verify]\na = {}", "[".repeat(100_000));
    let error = Files::new(nested.as_bytes(), b"").load().unwrap_err();
    assert!(error.contains("line 2, column "), "{error}");

    let mut files = Files::new(b"", b"");
    files.sources.user = Some(files.folder.path().to_owned());
    let error = files.load().unwrap_err();
    assert!(error.ends_with(": is a directory, not a file"), "{error}");

    // Each file may be absent, but not one that was named.
    let absent = files.folder.path().join("absent/config.toml");
    let below_file = files.folder.path().join("system.toml/config.toml");
    files.sources.system = None;
    for place in [absent, below_file] {
        files.sources.user = Some(place.clone());
        assert!(files.load().unwrap().layers().is_empty());
        let sources = Sources {
            file: Some(place.clone()),
            ..Sources::default()
        };
        let error = Config::load(&sources, &TABLES).unwrap_err().to_string();
        let reason = error.strip_prefix(&format!("{}: ", place.display()));
        assert!(
            reason.is_some_and(|reason| reason.contains("irectory")),
            "{error}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_at_once() {
    let mut files = Files::new(b"", b"");
    let pipe = files.folder.path().join("pipe.toml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    files.sources.user = Some(pipe.clone());
    let error = files.load().unwrap_err();
    assert_eq!(error, format!("{}: is not a regular file", pipe.display()));
}

#[cfg(unix)]
#[test]
fn a_loop_of_links_is_an_error() {
    let mut files = Files::new(b"", b"");
    let link = files.folder.path().join("loop.toml");
    std::os::unix::fs::symlink(&link, &link).unwrap();
    files.sources.user = Some(link.clone());
    let error = files.load().unwrap_err();
    assert!(
        error.starts_with(&format!("{}: ", link.display())),
        "{error}"
    );
}

#[test]
fn a_named_file_replaces_the_others() {
    let mut files = Files::new(b"[daemon]\nratio = 1.0", b"[daemon]\nmax-active = 1");
    let named = files.folder.path().join("named.toml");
    fs::write(&named, "[daemon]\npaused = true").unwrap();
    files.sources.file = Some(named);
    let expected = Daemon {
        paused: true,
        ..Daemon::default()
    };
    assert_eq!(files.daemon().unwrap(), expected);
    files.sources.file = Some("/dev/null".into());
    assert_eq!(files.daemon().unwrap(), Daemon::default());
}

#[test]
fn paths_start_at_the_folder_of_the_file_or_at_home() {
    for (text, expected) in [
        ("state/a", "FOLDER/state/a"),
        ("~/state", "/home/someone/state"),
        ("~", "/home/someone"),
        ("~other/state", "FOLDER/~other/state"),
        ("/srv", "/srv"),
    ] {
        let files = Files::new(format!("[daemon]\nstate = {text:?}").as_bytes(), b"");
        let folder = files.folder.path().to_str().unwrap();
        let state = PathBuf::from(files.daemon().unwrap().state.unwrap());
        assert_eq!(state, Path::new(&expected.replace("FOLDER", folder)));
    }
}

#[test]
fn values_keep_their_origins() {
    let files = Files::new(b"\n[verify]\nthreads = 2\n", b"[verify]\nio = 'mmap'\n")
        .with_variables(&[("HASHLANE_NETWORK_PROXY_FILE", "p")]);
    let config = files.load().unwrap();
    let origins = config.layers().iter().flat_map(|layer| {
        let tables = TABLES.iter().filter_map(|table| layer.table(table));
        tables
            .flatten()
            .map(|(key, value)| format!("{key}: {}", value.origin))
    });
    let folder = files.folder.path().display();
    let expected = [
        "proxy-file: HASHLANE_NETWORK_PROXY_FILE".to_owned(),
        format!("threads: {folder}/user.toml: line 3"),
        format!("io: {folder}/system.toml: line 2"),
    ];
    assert_eq!(origins.collect::<Vec<_>>(), expected);
    let user = &config.layers()[1];
    assert_eq!(
        user.table("verify").unwrap()["threads"].data,
        Data::Integer(2)
    );
    assert_eq!(
        user.file.as_ref().unwrap().path().display().to_string(),
        files.user()
    );
}

#[test]
fn a_reload_reports_the_changed_keys() {
    let files = Files::new(
        b"[daemon]\nratio = 1.0\npaused = true\nqueue.active = 1",
        b"",
    );
    let before = files.load().unwrap();
    let text = "[daemon]\npaused = true\nmax-active = 2\n[daemon.queue]\nactive = 3";
    fs::write(files.user(), text).unwrap();
    let after = files.load().unwrap();
    let changed = before.changed_keys(&after, "daemon");
    assert_eq!(changed, ["max-active", "queue.active", "ratio"]);
    fs::write(files.user(), "[daemon]\nratio = ").unwrap();
    assert!(files.load().is_err());
    assert!(before.changed_keys(&before, "daemon").is_empty());
}

/// Returns a file with a command in a folder of its own.
#[cfg(unix)]
fn with_command() -> Files {
    Files::new(b"[daemon]\non-complete = 'echo done'\n", b"")
}

#[cfg(unix)]
#[test]
fn commands_need_a_file_that_only_its_owner_can_write() {
    use std::os::unix::fs::PermissionsExt as _;
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let files = with_command();
    let (file, folder) = (PathBuf::from(files.user()), files.folder.path());
    for (file_mode, folder_mode, problem) in [
        (0o644, 0o755, None),
        (0o600, 0o700, None),
        (0o664, 0o755, Some((&*file, "664"))),
        (0o646, 0o755, Some((&*file, "646"))),
        (0o644, 0o775, Some((folder, "775"))),
        // Others cannot replace a file in such a folder.
        (0o644, 0o1777, None),
    ] {
        set(&file, file_mode);
        set(folder, folder_mode);
        let daemon = files.daemon();
        let Some((path, mode)) = problem else {
            assert_eq!(daemon.unwrap().on_complete.unwrap().as_str(), "echo done");
            continue;
        };
        let expected = format!(
            "{}: line 2: on-complete: commands are accepted only from files that no other user can change, but other users \
             can write to {} (mode {mode}): use `chmod go-w`",
            file.display(),
            path.display()
        );
        assert_eq!(daemon.unwrap_err(), expected);
    }
}

#[cfg(unix)]
#[test]
fn commands_need_a_file_of_the_same_user() {
    let files = with_command();
    if std::os::unix::fs::chown(files.user(), Some(65534), None).is_err() {
        return not_run(
            "commands in a file of another user",
            "only the superuser can change the owner of a file",
            "run as root",
        );
    }
    let error = files.daemon().unwrap_err();
    assert!(
        error.contains("belongs to another user (uid 65534)"),
        "{error}"
    );
}

#[test]
fn bytes_without_an_owner_have_no_commands() {
    let bytes = b"[daemon]\non-complete = 'echo done'\n".to_vec();
    let config = Config::parse(Path::new("text"), bytes, &TABLES).unwrap();
    let error = config.table::<Daemon>("daemon").unwrap_err().to_string();
    assert_eq!(
        error,
        "text: line 2: on-complete: commands are accepted only from files that no other user can change, and this system does \
         not show who can"
    );
}

/// A list of tables keeps its order, and replaces the list of a weaker layer as a whole.
#[test]
fn lists_of_tables_replace_each_other() {
    let names = ["daemon", "[queues]"];
    let of = |files: &Files| {
        let config = Config::load(&files.sources, &names).map_err(|error| error.to_string())?;
        let queues = config.list::<Queue>("queues");
        let queues = queues.map_err(|error| error.to_string())?;
        Ok::<_, String>(queues.iter().map(|queue| queue.active).collect::<Vec<_>>())
    };
    let system = b"[[queues]]\nactive = 9\n";
    let both = Files::new(
        b"[[queues]]\nactive = 3\n[daemon]\n[[queues]]\nactive = 1\n",
        system,
    );
    assert_eq!(of(&both), Ok(vec![3, 1]));
    assert_eq!(of(&Files::new(b"[daemon]\n", system)), Ok(vec![9]));
    assert_eq!(of(&Files::new(b"queues = []\n", system)), Ok(vec![]));
    let variables = Files::new(b"", system).with_variables(&[("HASHLANE_QUEUES_ACTIVE", "1")]);
    assert_eq!(of(&variables), Ok(vec![9]));
    let list = "`queues` is a list of tables: write [[queues]] before each";
    for (text, reason) in [
        ("[queues]\n", format!("line 1: {list}")),
        ("queues = [{}, 1]\n", format!("line 1: {list}")),
        (
            "[[daemon]]\n",
            "line 1: `daemon` is an array outside a table; tables are daemon, [queues]".into(),
        ),
        (
            "[[queues]]\n[[queues]]\nactiv = 1\n",
            "line 3: unknown key `activ`; did you mean `active`?".into(),
        ),
    ] {
        let files = Files::new(text.as_bytes(), b"");
        assert_eq!(
            of(&files),
            Err(format!("{}: {reason}", files.user())),
            "{text}"
        );
    }
}
