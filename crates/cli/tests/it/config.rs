//! Options from files and variables. The tests of `crates/config` cover files that cannot be read.

mod errors;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hashlane_cli::{Env, Exit};
use serde_json::{Value, json};

use crate::fixture::{Ended, demo, end, hashlane};
#[cfg(unix)]
use crate::fixture::{can_drop_privileges, drop_privileges};
use crate::in_process::run_with;
use crate::not_run::not_run;

const TORRENT: &str = "union-addresses.torrent";

/// A folder with a configuration.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config.toml"), text).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self) -> String {
        self.path("config.toml").display().to_string()
    }

    /// Returns the program with this configuration, in the folder.
    fn hashlane(&self, args: &[&str]) -> Command {
        let mut command = hashlane();
        command.env("HASHLANE_CONFIG", self.file());
        command.current_dir(self.0.path()).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Ended {
        end(&mut self.hashlane(args))
    }

    /// Returns the error of a command.
    fn error(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{args:?}");
        ended.stderr.replace(&self.file(), "FILE")
    }

    /// Returns the values that `hashlane config` prints for a command, by the names of its options.
    fn values(&self, args: &[&str]) -> BTreeMap<String, Value> {
        let args = [&["config", "--json"], args].concat();
        let ended = self.run(&args);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{args:?}");
        options(&ended.stdout)
    }
}

fn options(stdout: &str) -> BTreeMap<String, Value> {
    let lines = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let options = lines.filter(|line: &Value| line["type"] == "option");
    options
        .map(|line| (line["option"].as_str().unwrap().to_owned(), line))
        .collect()
}

/// A change of the environment.
type Change = Box<dyn Fn(&mut Env)>;

#[test]
fn the_command_line_wins_over_variables_over_the_users_file_over_the_systems_file() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str, content: &str| {
        let path = folder.path().join(name);
        let dir = demo().join(content).canonicalize().unwrap();
        fs::write(&path, format!("\n[verify]\ndir = {dir:?}\n")).unwrap();
        Some(path)
    };
    let (system, user) = (place("system.toml", "good"), place("user.toml", "damaged"));
    let named = place("named.toml", "good");
    let set_system: Change = Box::new(move |env| env.config.system.clone_from(&system));
    let set_user: Change = Box::new(move |env| env.config.user.clone_from(&user));
    let set_named: Change = Box::new(move |env| env.config.file.clone_from(&named));
    let set_variable: Change = Box::new(|env| {
        let variable = ("HASHLANE_VERIFY_DIR", "damaged").map_into();
        env.config.variables.push(variable);
    });
    // Each layer is added to those before it, and wins.
    let layers = [
        (None, "default", "", Exit::Bad),
        (Some(set_system), "file", "system.toml", Exit::Good),
        (Some(set_user), "file", "user.toml", Exit::Bad),
        (Some(set_named), "file", "named.toml", Exit::Good),
        (
            Some(set_variable),
            "variable",
            "HASHLANE_VERIFY_DIR",
            Exit::Bad,
        ),
    ];
    let mut changes: Vec<Change> = Vec::new();
    for (change, source, place, expected) in layers {
        changes.extend(change);
        let all = |env: &mut Env| changes.iter().for_each(|change| change(env));
        let (exit, _, stderr) = run_with(&["verify", TORRENT], all);
        assert_eq!((exit, &*stderr), (expected, ""), "{source} {place}");
        let (_, stdout, _) = run_with(&["config", "--json", "verify"], all);
        let dir = &options(&stdout)["dir"];
        assert_eq!(dir["source"], source);
        let shown = [&dir["path"], &dir["variable"]].map(|text| text.as_str().unwrap_or_default());
        assert!(shown.concat().ends_with(place), "{dir}");
        if source == "file" {
            assert_eq!(dir["line"], 3);
        }
    }
    let all = |env: &mut Env| changes.iter().for_each(|change| change(env));
    let (exit, ..) = run_with(&["verify", TORRENT, "-d", "good"], all);
    assert_eq!(exit, Exit::Good);
    let (_, stdout, _) = run_with(&["config", "--json", "verify", "-d", "good"], all);
    let dir = &options(&stdout)["dir"];
    assert_eq!(
        (&dir["source"], &dir["value"]),
        (&"command_line".into(), &"good".into())
    );
}

/// Names and values as the environment has them.
trait MapInto {
    fn map_into(self) -> (OsString, OsString);
}

impl MapInto for (&str, &str) {
    fn map_into(self) -> (OsString, OsString) {
        (self.0.into(), self.1.into())
    }
}

#[test]
fn files_are_merged_key_by_key_and_the_own_table_wins_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        Some(path)
    };
    let user = place(
        "user.toml",
        "[hashing]\nthreads = 2\nio = 'pread'\n[sum]\nthreads = 3\n",
    );
    let system = place(
        "system.toml",
        "[sum]\nio = 'mmap'\nalgorithm = ['md5', 'sha1']\ntag = true\n",
    );
    let (_, stdout, _) = run_with(&["config", "--json", "sum"], |env| {
        env.config.user = user;
        env.config.system = system;
    });
    let options = options(&stdout);
    for (option, value, table, line) in [
        ("threads", Value::from("3"), "sum", 5),
        // A shared table of the user's file wins over the system's file.
        ("io", "pread".into(), "hashing", 3),
        ("algorithm", vec!["md5", "sha1"].into(), "sum", 3),
        ("tag", true.into(), "sum", 4),
    ] {
        let option = &options[option];
        assert_eq!(
            (&option["value"], &option["table"]),
            (&value, &table.into())
        );
        assert_eq!(option["line"], line, "{option}");
    }
}

#[test]
fn a_command_uses_the_values_that_are_printed() {
    let folder = Folder::new(
        "[sum]\nalgorithm = 'md5'\ntag = true\n[create]\nsource = 'SITE'\nprivate = true\nexclude = ['*.tmp']\n\
         output-dir = 'out'\npiece-length = 15\n[recover]\njson = true\n",
    );
    fs::write(folder.path("empty"), "").unwrap();
    let sum = folder.values(&["sum"]);
    assert_eq!(sum["algorithm"]["value"], Value::from(vec!["md5"]));
    assert_eq!(sum["tag"]["value"], true);
    let ended = folder.run(&["sum", "empty"]);
    assert_eq!(
        ended.stdout,
        "MD5 (empty) = d41d8cd98f00b204e9800998ecf8427e\n"
    );

    let recover = ["recover", "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71"];
    assert_eq!(folder.values(&recover[..1])["json"]["value"], true);
    let ended = folder.run(&recover);
    assert!(
        ended.stdout.starts_with("{\"type\":\"intact\""),
        "{}",
        ended.stdout
    );

    // A list of the command line replaces that of the file.
    let ended = folder.run(&["sum", "-a", "crc32", "--tag=0", "empty"]);
    assert_eq!(ended.stdout, "00000000  empty\n");
    let sum = folder.values(&["sum", "-a", "crc32", "--tag=0"]);
    assert_eq!(
        (&sum["tag"]["value"], &sum["tag"]["source"]),
        (&false.into(), &"command_line".into())
    );

    fs::create_dir_all(folder.path("out")).unwrap();
    fs::create_dir(folder.path("content")).unwrap();
    fs::write(folder.path("content/a"), vec![1; 40_000]).unwrap();
    fs::write(folder.path("content/b.tmp"), "b").unwrap();
    let create = folder.values(&["create"]);
    // Relative paths start at the folder of the file.
    assert_eq!(
        Path::new(create["output-dir"]["value"].as_str().unwrap()),
        folder.path("out")
    );
    let mut command = folder.hashlane(&["create", "../content", "-a", "http://t/"]);
    let ended = end(command.current_dir(folder.path("out")));
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    let shown = folder.run(&["show", "out/content.torrent"]).stdout;
    for expected in [
        "source      SITE\n",
        "private     yes",
        "in 1 file, 2 pieces of 32 KiB\n",
    ] {
        assert!(shown.contains(expected), "{shown}");
    }

    // One option about the piece length replaces the other.
    let options = [
        "create",
        "content",
        "--force",
        "--target-pieces=1",
        "--private=0",
    ];
    let ended = folder.run(&options);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    let shown = folder.run(&["show", "out/content.torrent"]).stdout;
    assert!(
        shown.contains("1 piece of 64 KiB\n") && !shown.contains("private"),
        "{shown}"
    );
}

#[test]
fn a_preset_wins_over_the_configuration_key_by_key() {
    let folder = Folder::new(
        "[create]\npreset = 'site'\npresets = 'presets.toml'\nsource = 'CONFIG'\ncomment = 'of the file'\ntarget-pieces = 1\n",
    );
    let preset = "[site]\nsource = 'PRESET'\npiece-lengths = [{ piece-length = '16KiB' }]\n";
    fs::write(folder.path("presets.toml"), preset).unwrap();
    fs::write(folder.path("content"), vec![1; 40_000]).unwrap();
    let ended = folder.run(&["create", "content"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    let shown = folder.run(&["show", "content.torrent"]).stdout;
    for expected in [
        "source      PRESET\n",
        "comment     of the file\n",
        "3 pieces of 16 KiB\n",
    ] {
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn options_that_exclude_each_other_follow_the_precedence() {
    let folder = Folder::new(
        "[verify]\ndir = 'nowhere'\nquiet = true\n[network]\nweb-seeds = true\nproxy-file = 'proxy'\n\
         [get]\nlog-level = 'debug'\nhttp-origin = 'https://a.example'\n[seed]\nhttp = 8080\n",
    );
    // --content replaces --dir, and --verbose replaces --quiet.
    let torrent = demo().join(TORRENT);
    let content = demo().join("good/union-addresses");
    let paths = [&torrent, &content].map(|path| path.to_str().unwrap());
    let ended = folder.run(&["verify", paths[0], "--content", paths[1], "--verbose"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert!(ended.stdout.contains("union-addresses"), "{}", ended.stdout);

    let get = folder.values(&["get", "--web-seeds=0", "--proxy", "socks5://h:1"]);
    let source = |option: &str| get[option]["source"].as_str().unwrap();
    assert_eq!(
        (source("web-seeds"), source("proxy-file")),
        ("command_line", "default")
    );
    assert_eq!(get["web-seeds"]["value"], false);
    // Without the option that they belong to, these have no effect.
    assert_eq!(
        (source("log-level"), source("http-origin")),
        ("default", "default")
    );
    let get = folder.values(&["get", "--log", "a", "--http", "1"]);
    let source = |option: &str| get[option]["source"].as_str().unwrap();
    assert_eq!(
        (source("log-level"), source("http-origin")),
        ("file", "file")
    );
    // The file has the option that an option of the command line needs.
    let seed = folder.values(&["seed", "--http-origin", "https://b.example"]);
    assert_eq!(seed["http"]["value"], "8080");
    assert_eq!(seed["http-origin"]["source"], "command_line");

    // The variable with the URL of a proxy wins over the file.
    let mut command = folder.hashlane(&["config", "--json", "get"]);
    let ended = end(command.env("HASHLANE_PROXY", "socks5://user:secret@host:1"));
    let get = options(&ended.stdout);
    assert_eq!(get["proxy-file"]["source"], "default");
    assert_eq!(get["proxy"]["variable"], "HASHLANE_PROXY");
}

#[test]
fn secrets_are_refused_and_not_printed() {
    const KEY: &str = "0123456789abcdef0123456789abcdef";
    let folder = Folder::new("[network]\nproxy = 'socks5://user:secret@host:1'\n");
    let error = folder.error(&["get", "x"]);
    assert!(
        error.starts_with("hashlane: FILE: line 2: `proxy` can hold a password: "),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
    for key in ["proxy-password", "http-token", "password"] {
        let folder = Folder::new(&format!("[get]\n{key} = 'secret'\n"));
        let error = folder.error(&["get", "x"]);
        assert!(
            error.contains("unknown key") && !error.contains("secret"),
            "{error}"
        );
    }
    let folder = Folder::new(&format!(
        "[create]\nannounce = ['https://t/{KEY}/announce']\n"
    ));
    for form in [&["config"][..], &["config", "--json"]] {
        let mut command = folder.hashlane(form);
        let ended = end(command.env("HASHLANE_PROXY", "socks5://alice:secret@host:1"));
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        assert!(
            ended.stdout.contains("https://t/***/announce"),
            "{}",
            ended.stdout
        );
        for secret in [KEY, "secret", "alice"] {
            assert!(!ended.stdout.contains(secret), "{}", ended.stdout);
        }
    }
    let folder = Folder::new(&format!("[create]\nannounce = ['https://t/{KEY}/a b']\n"));
    let error = folder.error(&["create", "x"]);
    assert!(
        error.contains("https://t/***/a b") && !error.contains(KEY),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn commands_come_only_from_files_that_nobody_else_can_change() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("[get]\nexec = 'echo done'\n");
    let set = |mode| fs::set_permissions(folder.file(), fs::Permissions::from_mode(mode)).unwrap();
    set(0o644);
    assert_eq!(folder.values(&["get"])["exec"]["value"], "echo done");
    set(0o664);
    let expected = "hashlane: FILE: line 2: exec: commands are accepted only from files that no other user can change, but \
                    other users can write to FILE (mode 664): use `chmod go-w`\n";
    assert_eq!(folder.error(&["get", "x"]), expected);
    // `get` is run by a program of its own, if that exists.
    assert_eq!(folder.error(&["config", "get"]), expected);
    // Another command does not run it.
    assert_eq!(folder.run(&["sum", "config.toml"]).code, Some(0));
}

/// Who can change a link, or a folder in which it is, chooses the file.
#[cfg(unix)]
#[test]
fn commands_come_only_by_ways_that_nobody_else_can_change() {
    use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
    let folder = Folder::new("[get]\nexec = 'echo done'\n");
    let set = |name: &str, mode| {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::set_permissions(folder.file(), fs::Permissions::from_mode(0o644)).unwrap();
    for name in ["open", "open/inner", "own"] {
        fs::create_dir(folder.path(name)).unwrap();
        set(name, 0o755);
    }
    symlink(folder.file(), folder.path("open/link")).unwrap();
    symlink("../open/../open/link", folder.path("own/second")).unwrap();
    symlink("../../config.toml", folder.path("open/inner/third")).unwrap();
    symlink("loop", folder.path("own/loop")).unwrap();
    let run = |name: &str| {
        let mut command = folder.hashlane(&["config", "get", "--json"]);
        end(command.env("HASHLANE_CONFIG", folder.path(name)))
    };
    let ways = ["open/link", "own/second", "open/inner/third"];
    for way in ways {
        let ended = run(way);
        assert_eq!(ended.code, Some(0), "{way}: {}", ended.stderr);
    }
    set("open", 0o777);
    for way in ways {
        let ended = run(way);
        assert_eq!(ended.code, Some(2), "{way}");
        let reason = format!("other users can write to {}", folder.path("open").display());
        assert!(ended.stderr.contains(&reason), "{way}: {}", ended.stderr);
    }
    // In a folder such as /tmp, only the owner can replace a link.
    set("open", 0o1777);
    assert_eq!(run("open/link").code, Some(0));
    assert_eq!(run("own/loop").code, Some(2));
    if lchown(folder.path("open/link"), Some(65534), None).is_err() {
        let what = "links of other users";
        return not_run(
            what,
            "only the superuser can make them",
            "run the tests as root",
        );
    }
    for way in &ways[..2] {
        let ended = run(way);
        assert_eq!(ended.code, Some(2), "{way}");
        let reason = format!(
            "{} belongs to another user (uid 65534)",
            folder.path("open/link").display()
        );
        assert!(ended.stderr.contains(&reason), "{way}: {}", ended.stderr);
    }
}

#[test]
fn programs_without_configuration_read_none() {
    let folder = Folder::new("");
    let torrent = demo().join(TORRENT);
    let torrent = torrent.to_str().unwrap();
    let copy = folder.path("copy.torrent");
    let absent = |args: &[&str]| end(folder.hashlane(args).env("HASHLANE_CONFIG", "absent.toml"));
    for args in [
        &["sha256sum", "config.toml"][..],
        &["b3sum", "config.toml"],
        &["digest", "-a", "sha1", "config.toml"],
        &["mac", "-a", "sha1_hmac", "--key-hex", "00", "config.toml"],
        &["show", torrent],
        &["edit", torrent, "-c", "x", "-o", copy.to_str().unwrap()],
        &["kernels", "--json"],
        &["completions", "bash"],
        &["man"],
        &["sum", "--help"],
        &["--version"],
    ] {
        let ended = absent(args);
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{args:?}");
    }
    for args in [
        &["sum", "config.toml"][..],
        &["verify", torrent],
        &["create", "config.toml"],
        &["magnet", torrent],
        &["recover", "x"],
        &["config"],
    ] {
        let ended = absent(args);
        assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{args:?}");
        assert_eq!(
            ended.stderr,
            "hashlane: absent.toml: No such file or directory (os error 2)\n"
        );
        // The file of the command line replaces that of the variable.
        let args = [args, &["--config", "/dev/null"]].concat();
        let ended = absent(&args);
        assert!(!ended.stderr.contains("absent.toml"), "{}", ended.stderr);
    }
}

#[test]
fn the_users_file_is_found() {
    let folder = Folder::new("[sum]\nalgorithm = 'crc32'\n");
    fs::write(folder.path("empty"), "").unwrap();
    for (variable, value, config) in [
        ("XDG_CONFIG_HOME", "config", "config/hashlane"),
        ("HOME", "home", "home/.config/hashlane"),
    ] {
        let config = folder.path(config);
        fs::create_dir_all(&config).unwrap();
        let file = config.join("config.toml");
        let with = |args: &[&str]| {
            let mut command = folder.hashlane(args);
            command
                .env_remove("HASHLANE_CONFIG")
                .env_remove("XDG_CONFIG_HOME")
                .env_remove("HOME");
            end(command.env(variable, folder.path(value)))
        };
        assert_eq!(
            with(&["config", "--path"]).stdout,
            format!("{}\n", file.display())
        );
        assert_eq!(
            with(&["sum", "empty"])
                .stdout
                .split(' ')
                .next()
                .map(str::len),
            Some(64)
        );
        fs::rename(folder.file(), &file).unwrap();
        assert_eq!(with(&["sum", "empty"]).stdout, "00000000  empty\n");
        let printed = with(&["config"]).stdout;
        let expected = format!("# {}: read\n", file.display());
        assert!(printed.starts_with(&expected), "{printed}");
        fs::rename(&file, folder.file()).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn the_null_device_is_no_configuration() {
    let ended = end(hashlane().args(["config", "--config", "/dev/null", "sum"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let first = "# /dev/null: no configuration\n";
    assert!(ended.stdout.starts_with(first), "{}", ended.stdout);
    let json = end(hashlane().args(["config", "--config", "/dev/null", "--json", "sum"]));
    let first = "{\"type\":\"file\",\"path\":\"/dev/null\",\"state\":\"empty\"}\n";
    assert!(json.stdout.starts_with(first), "{}", json.stdout);
}

#[cfg(unix)]
#[test]
fn a_file_that_exists_must_be_readable() {
    use std::os::unix::fs::PermissionsExt as _;
    if !can_drop_privileges() {
        return;
    }
    let folder = Folder::new("[sum]\nalgorithm = 'crc32'\n");
    let home = folder.path("home/.config/hashlane");
    fs::create_dir_all(&home).unwrap();
    fs::rename(folder.file(), home.join("config.toml")).unwrap();
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    set(folder.0.path(), 0o755);
    let run = || {
        let mut command = folder.hashlane(&["sum"]);
        command
            .env_remove("HASHLANE_CONFIG")
            .env_remove("XDG_CONFIG_HOME");
        drop_privileges(command.env("HOME", folder.path("home")));
        end(&mut command)
    };
    assert_eq!(run().stdout, "00000000  -\n");
    set(&home.join("config.toml"), 0);
    let ended = run();
    let expected = format!(
        "hashlane: {}/config.toml: Permission denied (os error 13)\n",
        home.display()
    );
    assert_eq!((ended.code, ended.stderr), (Some(2), expected));
    // The home folder of another user, whose files are not known.
    set(&folder.path("home"), 0);
    assert_eq!(run().code, Some(0));
    set(&folder.path("home"), 0o755);
}

#[test]
fn the_printed_configuration_is_a_configuration() {
    let folder = Folder::new(
        "[sum]\nalgorithm = ['md5', 'crc32']\nlinks = 'follow-outside'\n[recover]\nmax-time = '5m'\n[hashing]\nthreads = 2\n\
         [create]\ncomment = \"a \\\"quote\\\" \\\\ and \\u00fc\"\nprivate = true\n[seed]\nseed-ratio = 1.5\nmax-up = 4096\n",
    );
    let printed = folder.run(&["config"]).stdout;
    let values = |folder: &Folder| {
        let ended = folder.run(&["config", "--json"]);
        let lines = ended
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let options = lines.filter(|line: &Value| line["type"] == "option");
        let values = options.map(|line| {
            (
                line["command"].clone(),
                line["option"].clone(),
                line["value"].clone(),
            )
        });
        values.collect::<Vec<_>>()
    };
    let copy = Folder::new(&printed);
    assert_eq!(values(&copy), values(&folder));
    assert!(values(&folder).len() > 80);
}

/// The working directory does not matter for a socket that a file names.
#[cfg(unix)]
#[test]
fn addresses_of_listeners_have_one_form() {
    let folder = Folder::new(
        "[daemon]\nhttp = 'unix:run/page'\ntransmission = 9091\nqbittorrent = 'nas:8080'\n",
    );
    let values = folder.values(&["daemon"]);
    let socket = format!("unix:{}", folder.path("run/page").display());
    for (option, expected) in [
        ("http", socket.as_str()),
        ("transmission", "9091"),
        ("qbittorrent", "nas:8080"),
    ] {
        assert_eq!(values[option]["value"], expected, "{option}");
    }
}

/// The tables of the daemon are printed with their origins, merged key by key, and can be read again.
#[cfg(unix)]
#[test]
fn the_tables_of_the_daemon_are_printed() {
    let text = "[categories.tv]\ndir = '/srv/tv'\nseed-ratio = 1.5\n[categories.\"a b\"]\n\
                [hooks]\nadded = \"echo \\\"$HASHLANE_NAME\\\" http://user:secret@host/\"\n\
                [labels.kept]\nseed-time = 90\n\
                [schedule.night]\ndays = ['mon', 'fri']\nfrom = 22:00:00\nto = '06:00'\nmax-up = '1MiB'\n";
    let folder = Folder::new(text);
    let entries = |folder: &Folder, args: &[&str]| {
        let ended = folder.run(&[&["config", "--json"], args].concat());
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        let lines = ended.stdout.lines();
        let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
        let entries = lines.filter(|line| line["type"] == "entry");
        entries
            .map(|line| {
                let text = |name: &str| line[name].as_str().unwrap().to_owned();
                assert_eq!(text("name"), text("table"));
                let value = line["value"].clone();
                (text("name"), text("key"), value, line["line"].clone())
            })
            .collect::<Vec<_>>()
    };
    let found = entries(&folder, &[]);
    let expected = [
        ("categories.tv", "dir", json!("/srv/tv"), 2),
        ("categories.tv", "seed-ratio", json!("1.5"), 3),
        ("labels.kept", "seed-time", json!("90"), 8),
        (
            "hooks",
            "added",
            json!("echo \"$HASHLANE_NAME\" http://user:***@host/"),
            6,
        ),
        ("schedule.night", "days", json!(["mon", "fri"]), 10),
        ("schedule.night", "from", json!("22:00:00"), 11),
        ("schedule.night", "max-up", json!("1MiB"), 13),
        ("schedule.night", "to", json!("06:00"), 12),
    ];
    let expected = expected
        .map(|(path, key, value, line)| (path.to_owned(), key.to_owned(), value, json!(line)));
    assert_eq!(found, expected);
    // Only the daemon has them.
    assert_eq!(entries(&folder, &["daemon"]), found);
    assert_eq!(entries(&folder, &["verify"]), []);
    let printed = folder.run(&["config"]).stdout;
    let origin = format!("seed-ratio = \"1.5\"  # {}: line 3\n", folder.file());
    assert!(printed.contains(&origin), "{printed}");
    assert!(printed.contains("\n[categories.\"a b\"]\n"), "{printed}");
    let copy = entries(&Folder::new(&printed), &[]);
    let values = |entries: &[(String, String, Value, Value)]| {
        let entries = entries.iter().cloned();
        entries
            .map(|(path, key, value, _)| (path, key, value))
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&copy), values(&found));
}

/// Rules are printed in their order, as they can be read again.
#[cfg(unix)]
#[test]
fn rules_are_printed() {
    let text = "[[rules]]\nname = 'first'\nseed-ratio = 2\n[rules.if]\nprivate = true\n\
                [[rules]]\nif.tracker = ['a.example', 'b.example']\n";
    let tables = |folder: &Folder| {
        let printed = folder.run(&["config", "daemon"]);
        assert_eq!((printed.code, &*printed.stderr), (Some(0), ""));
        let begin = printed.stdout.find("[[rules]]").unwrap();
        let lines = printed.stdout[begin..].lines();
        let lines = lines.map(|line| line.split("  #").next().unwrap_or_default().trim_end());
        let lines = lines.filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let printed = tables(&Folder::new(text));
    let expected = [
        "[[rules]]",
        "name = \"first\"",
        "seed-ratio = 2",
        "[rules.if]",
        "private = true",
        "[[rules]]",
        "[rules.if]",
        "tracker = [\"a.example\", \"b.example\"]",
    ];
    assert_eq!(printed, expected);
    assert_eq!(tables(&Folder::new(&printed.join("\n"))), expected);
    let folder = Folder::new("[[rules]]\nif.min-size = 'x'\n");
    let error = folder.error(&["config"]);
    assert!(
        error.contains("line 2: min-size: invalid value `x`"),
        "{error}"
    );
}

#[test]
fn unknown_commands_and_invalid_arguments_of_config() {
    let folder = Folder::new("");
    let error = folder.error(&["config", "show"]);
    assert!(
        error.starts_with("hashlane: show: not a command with a configuration; these are verify, "),
        "{error}"
    );
    let error = folder.error(&["config", "sum", "--links", "some"]);
    assert!(
        error.starts_with("hashlane: invalid value 'some' for '--links <HOW>'"),
        "{error}"
    );
    let error = folder.error(&["config", "sum", "--nothing"]);
    assert!(
        error.starts_with("hashlane: unexpected argument '--nothing' found"),
        "{error}"
    );
}

/// The rows of the reference of the settings: the table of the configuration, and the cells.
fn settings() -> Vec<(&'static str, Vec<&'static str>)> {
    let page = include_str!("../../../../docs/reference/settings.md");
    let mut table = "";
    let mut rows = Vec::new();
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("## `[") {
            table = rest.trim_end_matches("]`");
        }
        if let Some(row) = line.strip_prefix("| `") {
            rows.push((table, row.split(" | ").collect()));
        }
    }
    rows
}

#[test]
fn the_example_of_each_setting_is_valid() {
    for (table, cells) in settings() {
        let example = cells[4].trim_matches('`').replace("\\|", "|");
        let ended = Folder::new(&format!("[{table}]\n{example}\n")).run(&["config", "--json"]);
        let found = (ended.code, &*ended.stderr);
        assert_eq!(found, (Some(0), ""), "[{table}] {example}");
    }
}

#[test]
fn the_example_of_the_guide_is_valid() {
    let guide = include_str!("../../../../docs/reference/config.md");
    // The test does not own the files that it names.
    let (_, example) = guide.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let values = Folder::new(example).values(&["verify"]);
    assert_eq!(values["dir"]["value"], "/srv/torrents");
    assert_eq!(values["threads"]["table"], "hashing");
}

#[test]
fn the_reference_lists_every_key() {
    let mut listed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (table, cells) in settings() {
        let key = cells[0].trim_end_matches('`');
        assert!(listed.entry(table).or_default().insert(key), "{key}");
    }
    // Each key of each command is in its own table or in a shared one, and no other key is listed.
    let folder = Folder::new("");
    let ended = folder.run(&["config", "--json"]);
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in ended.stdout.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if let (Some(command), Some(option)) = (line["command"].as_str(), line["option"].as_str()) {
            known
                .entry(command.to_owned())
                .or_default()
                .insert(option.to_owned());
        }
    }
    let shared = ["hashing", "network", "terminal"].map(|table| &listed[table]);
    let shared: BTreeSet<&str> = shared.into_iter().flatten().copied().collect();
    for (command, keys) in &known {
        let own = listed.get(&**command).cloned().unwrap_or_default();
        let keys: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
        let only_own: BTreeSet<&str> = keys.difference(&shared).copied().collect();
        assert_eq!(own, only_own, "{command}");
    }
    let all: BTreeSet<&str> = known.values().flatten().map(String::as_str).collect();
    assert!(shared.is_subset(&all), "{shared:?}");
}
