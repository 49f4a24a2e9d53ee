//! Thousands of calls with damaged arguments and torrents, the same in each run. None may panic, end with another
//! status than the documented ones, or write a control character to the standard error stream.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use hashlane_cli::Exit;
use hashlane_metainfo::needs_escape;

use crate::in_process::run_with;
use crate::random::Random;

const N_CALLS: usize = 600;

/// The commands, valid arguments of each, and the largest exit status.
const COMMANDS: [(&str, &[&str], u8); 14] = [
    (
        "verify",
        &[
            "t.torrent",
            "-d",
            "content",
            "--json",
            "--only",
            "v1",
            "--exclude",
            "*.x",
        ],
        2,
    ),
    ("show", &["t.torrent", "--json"], 2),
    (
        "show",
        &[
            "magnet:?xt=urn:btih:3ff6fe577e89feeb7c20674a06744c2f30efcd5f&dn=a%20b&tr=x",
            "--json",
        ],
        2,
    ),
    ("magnet", &["t.torrent", "--json"], 2),
    (
        "edit",
        &[
            "t.torrent",
            "-f",
            "-c",
            "text",
            "-s",
            "tag",
            "-a",
            "http://host",
            "-o",
            "e.torrent",
        ],
        2,
    ),
    (
        "edit",
        &[
            "t.torrent",
            "--remove-tracker",
            "host",
            "--replace",
            "h",
            "g",
            "-n",
            "other",
            "--confirm=0",
            "--node",
            "host:1",
            "--dry-run",
        ],
        2,
    ),
    (
        "create",
        &[
            "content",
            "-f",
            "-o",
            "c.torrent",
            "-l",
            "64KiB",
            "--format",
            "hybrid",
            "-x",
            "[a-z]*",
        ],
        2,
    ),
    (
        "recover",
        &[
            "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4Z?X71",
            "-e",
            "1",
            "-k",
            "p2pkh",
            "--shard",
            "1/4",
        ],
        3,
    ),
    (
        "recover",
        &[
            "[1l]bcfr7sahtd9cgdqo3htmtkv8lk4znx71",
            "-g",
            "--estimate",
            "--json",
        ],
        3,
    ),
    ("digest", &["-v", "-a", "sha1", "content", "t.torrent"], 2),
    (
        "mac",
        &["-a", "sha256_hmac", "--verify", "00ff", "t.torrent"],
        2,
    ),
    ("completions", &["bash"], 2),
    ("man", &["--output", "pages", "-f"], 2),
    ("nothing", &["--help", "--version"], 2),
];

/// Damage, and arguments.
impl Random {
    /// Damages bytes at some places.
    fn damage(&mut self, bytes: &mut Vec<u8>, alphabet: &[u8]) {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len() + 1);
            let end = (at + 1 + self.below(8)).min(bytes.len());
            let new = alphabet[self.below(alphabet.len())];
            match self.below(5) {
                0 if at < bytes.len() => bytes[at] = new,
                1 if at < end => drop(bytes.drain(at..end)),
                2 if at < end => {
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
                3 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, new),
            }
        }
    }

    /// Returns the arguments of a command, some of them damaged, repeated, missing or in another order.
    fn args(&mut self, command: &str, valid: &[&str]) -> Vec<String> {
        let mut args: Vec<String> = valid.iter().map(ToString::to_string).collect();
        for _ in 0..self.below(4) {
            let i = self.below(args.len());
            match self.below(5) {
                0 if args.len() > 1 => drop(args.remove(i)),
                1 => args.insert(i, args[i].clone()),
                2 => {
                    let other = self.below(args.len());
                    args.swap(i, other);
                }
                _ => {
                    let mut bytes = args[i].clone().into_bytes();
                    let alphabet = b"-=a0?[]*,:%&\x1b\x07\n\t\"'\\ \x7f\xc2\x9b\xff\xe2\x80\xae";
                    self.damage(&mut bytes, alphabet);
                    args[i] = String::from_utf8_lossy(&bytes).into_owned();
                }
            }
        }
        // No call leaves the folder: a path with a slash belongs to a URL, and starts with a letter.
        for arg in &mut args {
            if !arg.starts_with("http") {
                *arg = arg.replace('/', "|").replace("..", "._");
            }
        }
        let first: &[&str] = match command {
            // Otherwise it asks on the terminal.
            "mac" => &["mac", "--key-hex", "00"],
            "recover" => &["recover", "--max-time", "0.1"],
            "nothing" => &[],
            _ => &[command],
        };
        first.iter().map(ToString::to_string).chain(args).collect()
    }
}

/// Returns torrents of each version, of a folder with two files.
fn torrents(folder: &Path) -> Vec<Vec<u8>> {
    fs::create_dir(folder.join("content")).unwrap();
    fs::create_dir(folder.join("pages")).unwrap();
    fs::write(folder.join("content/a"), vec![7; 40_000]).unwrap();
    fs::write(folder.join("content/b.x"), "b").unwrap();
    let torrents = ["v1", "v2", "hybrid"].map(|format| {
        let args = ["create", "content", "--format", format, "-o", format, "-q"];
        let (exit, _, stderr) = run_with(&args, |env| folder.clone_into(&mut env.cwd));
        assert_eq!((exit, stderr.as_str()), (Exit::Good, ""));
        fs::read(folder.join(format)).unwrap()
    });
    torrents.into()
}

#[test]
fn hostile_calls_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let torrents = torrents(folder.path());
    let mut random = Random::new(1);
    let mut n_by_status = [0; 4];
    for call in 0..N_CALLS {
        let mut torrent = torrents[random.below(torrents.len())].clone();
        if random.below(3) > 0 {
            random.damage(&mut torrent, b"ilde:-/.0123456789\x00\x1b\xff");
        }
        fs::write(folder.path().join("t.torrent"), &torrent).unwrap();
        let (command, valid, max_status) = COMMANDS[random.below(COMMANDS.len())];
        let args = random.args(command, valid);
        let shown = format!("call {call}: {args:?} {}", torrent.escape_ascii());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let result = catch_unwind(AssertUnwindSafe(|| {
            run_with(&args, |env| env.cwd = folder.path().to_owned())
        }));
        let Ok((exit, _, stderr)) = result else {
            panic!("{shown} panicked");
        };
        assert!(exit.code() <= max_status, "{shown}: {exit:?}");
        let is_safe = |line: &str| !line.chars().any(needs_escape);
        assert!(stderr.lines().all(is_safe), "{shown}: {stderr:?}");
        assert!(
            exit == Exit::Good || !stderr.is_empty() || exit.code() != 2,
            "{shown}"
        );
        n_by_status[usize::from(exit.code())] += 1;
    }
    // The calls are of use: many succeed, and many fail.
    println!("calls by exit status: {n_by_status:?}");
    assert!(n_by_status[0] > N_CALLS / 10, "{n_by_status:?}");
    assert!(n_by_status[2] > N_CALLS / 10, "{n_by_status:?}");
}
