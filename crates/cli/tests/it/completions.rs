//! Completions in the shells themselves.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use crate::fixture::{end, hashlane};
use crate::not_run::is_installed;

const INFO_HASH: &str = "0123456789abcdef0123456789abcdef01234567";

/// Command lines that end where the user presses Tab, and what the last word becomes.
const LINES: [(&str, &str); 12] = [
    ("hashlane ctl verify 01", INFO_HASH),
    ("hashlane ctl queue up 01", INFO_HASH),
    ("hashlane ctl files 01", INFO_HASH),
    ("hashlane sum --algorithm sha5", "sha512"),
    ("hashlane recover --kind bip", "bip38"),
    ("hashlane create --preset si", "site"),
    ("hashlane create --links follow-o", "follow-outside"),
    ("hashlane man ver", "verify"),
    ("hashlane config dae", "daemon"),
    ("hashlane sha256sum --che", "--check"),
    ("hashlane mac -a sha51", "sha512_hmac"),
    ("hashlane verify --verb", "--verbose"),
];

/// Presses Tab in zsh, and prints the line.
const ZSH: &str = r#"
import os, pty, sys, time
line, output, setup = sys.argv[1:4]
pid, master = pty.fork()
if pid == 0:
    os.execvp("zsh", ["zsh", "-f", "-i"])
import threading
def read():
    try:
        while os.read(master, 4096):
            pass
    except OSError:
        pass
threading.Thread(target=read, daemon=True).start()
def wait_for(path):
    for _ in range(1200):
        if os.path.exists(path):
            return
        time.sleep(0.05)
    sys.exit("not in 60 s: " + path)
os.write(master, ("source " + setup + "\n").encode())
wait_for(output + ".ready")
os.write(master, (line + "\t\x07").encode())
wait_for(output)
os.write(master, b"exit\n")
print(open(output).read())
"#;

/// A folder with the program in `bin`, a preset, and the script of a shell.
struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    fn new(args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::create_dir_all(root.join("config/hashlane")).unwrap();
        symlink(env!("CARGO_BIN_EXE_hashlane"), root.join("bin/hashlane")).unwrap();
        let presets = "[site]\nprivate = true\n[other]\nprivate = true\n";
        fs::write(root.join("config/hashlane/presets.toml"), presets).unwrap();
        let script = end(hashlane().arg("completions").args(args));
        assert_eq!((script.code, &*script.stderr), (Some(0), ""));
        fs::write(root.join("script"), script.stdout).unwrap();
        let state = root.join("state/hashlane/daemon");
        fs::create_dir_all(&state).unwrap();
        answer_as_daemon(UnixListener::bind(state.join("socket")).unwrap());
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Runs a program, and returns what it prints.
    fn run(&self, program: &str, args: &[&str]) -> String {
        let mut command = Command::new("/usr/bin/env");
        let path = format!("{}:{}", self.path("bin"), std::env::var("PATH").unwrap());
        command.arg(program).args(args).env("PATH", path);
        command
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_STATE_HOME", self.path("state"));
        let ended = end(command.env("TERM", "xterm").current_dir(self.folder.path()));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout
    }
}

/// Answers each list as a daemon with one torrent.
fn answer_as_daemon(listener: UnixListener) {
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let head = BufReader::new(&stream).lines().map_while(Result::ok);
            let head: Vec<_> = head.take_while(|line| !line.is_empty()).collect();
            let is_list = |line: &String| line.starts_with("GET /api/v1/torrents ");
            if !head.first().is_some_and(is_list) {
                continue;
            }
            let list = format!(r#"{{"torrents":[{{"info_hash":"{INFO_HASH}"}}]}}"#);
            // The program may have given up.
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{list}",
                list.len()
            );
        }
    });
}

/// Without a daemon, nothing is completed, and nothing is printed where the user types.
#[test]
fn no_daemon_has_no_torrents() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = hashlane();
    let command = command.args(["completions", "--values", "torrents"]);
    let ended = end(command.env("XDG_STATE_HOME", folder.path()));
    assert_eq!((ended.code, &*ended.stdout), (Some(2), ""));
    assert!(ended.stderr.contains("no daemon runs"), "{}", ended.stderr);
}

/// Returns `true` if a shell, whose package has its name, is installed. Reports a missing one.
fn has(shell: &str) -> bool {
    is_installed("SHELLS", shell, shell)
}

#[test]
fn bash_completes_options_and_values() {
    if !has("bash") {
        return;
    }
    let scratch = Scratch::new(&["bash"]);
    for (line, expected) in LINES {
        let words: Vec<&str> = line.split(' ').collect();
        let [.., before, current] = words[..] else {
            panic!("{line}");
        };
        let script = format!(
            "source ./script; COMP_WORDS=({line}); COMP_CWORD={}; _hashlane hashlane '{current}' '{before}'; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.len() - 1
        );
        let found = scratch.run("bash", &["--norc", "-c", &script]);
        assert!(
            found.lines().any(|word| word.starts_with(expected)),
            "{line}: {found}"
        );
    }
}

#[test]
fn fish_completes_options_and_values() {
    if !has("fish") {
        return;
    }
    let scratch = Scratch::new(&["fish"]);
    for (line, expected) in LINES {
        let script = format!("source script; complete -C '{line}'");
        let found = scratch.run("fish", &["--no-config", "-c", &script]);
        let mut words = found.lines().filter_map(|line| line.split('\t').next());
        assert!(
            words.any(|word| word.starts_with(expected)),
            "{line}: {found}"
        );
    }
}

#[test]
fn zsh_completes_options_and_values() {
    if !has("zsh") || !has("python3") {
        return;
    }
    let scratch = Scratch::new(&["zsh"]);
    let output = scratch.path("line");
    let setup = format!(
        "autoload -U compinit; compinit -u -D; source {}\n\
         dump() {{ print -r -- \"$BUFFER\" > {output}.new; mv {output}.new {output}; BUFFER=; zle accept-line }}\n\
         zle -N dump; bindkey '^G' dump; : > {output}.ready\n",
        scratch.path("script")
    );
    fs::write(scratch.path("setup"), setup).unwrap();
    for (line, expected) in LINES {
        let args = ["-c", ZSH, line, &output, &scratch.path("setup")];
        let completed = scratch.run("python3", &args);
        let last = completed.split_whitespace().last().unwrap();
        assert!(last.starts_with(expected), "{line}: {completed}");
        for name in [output.clone(), format!("{output}.ready")] {
            fs::remove_file(name).unwrap();
        }
    }
}

#[test]
fn a_link_of_another_name_has_completions() {
    if !has("bash") {
        return;
    }
    let scratch = Scratch::new(&["bash", "b3sum"]);
    let script = "source ./script; complete -p b3sum; COMP_WORDS=(b3sum --che); COMP_CWORD=1; _b3sum b3sum --che b3sum; \
                  printf '%s\\n' \"${COMPREPLY[@]}\"";
    let found = scratch.run("bash", &["--norc", "-c", script]);
    assert!(found.ends_with("b3sum\n--check\n"), "{found}");
    let wrong = end(hashlane().args(["completions", "bash", "verify"]));
    let message =
        "hashlane: verify: no program that a link can call; `hashlane --help` lists them\n";
    assert_eq!((wrong.code, &*wrong.stderr), (Some(2), message));
}
