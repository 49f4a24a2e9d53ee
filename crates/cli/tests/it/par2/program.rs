//! The program `par2`, compared with par2cmdline and par2cmdline-turbo: exit status, verdict and files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::content;
use crate::par2cmdline::{par2cmdline, turbo};

/// A folder with a program and files.
struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
}

const OURS: &str = env!("CARGO_BIN_EXE_hashlane");

/// The files: of ten, six, two and no slices of 500 bytes.
const FILES: [(&str, usize); 4] = [("aa", 5000), ("bb", 3000), ("dir/cc", 700), ("empty", 0)];

impl Place {
    fn new(program: &Path) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
            program: program.to_owned(),
        };
        fs::create_dir_all(place.path("dir")).unwrap();
        fs::create_dir(place.folder.path().join("bin")).unwrap();
        for (name, len) in FILES {
            fs::write(place.path(name), content(name, len)).unwrap();
        }
        place
    }

    /// Returns a folder with recovery files of `aa` and `bb`, which have six recovery slices.
    fn protected(program: &Path) -> Self {
        let place = Self::new(Path::new(OURS));
        let (status, output) = place.run(&["par2", "c", "-s500", "-c6", "s.par2", "aa", "bb"]);
        assert_eq!(status, 0, "{output}");
        Self {
            program: program.to_owned(),
            ..place
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("files").join(name)
    }

    /// Runs the program by a link with the first of the words. Returns its exit status and its output.
    fn run(&self, words: &[&str]) -> (i32, String) {
        let link = self.folder.path().join("bin").join(words[0]);
        if link.symlink_metadata().is_ok() {
            fs::remove_file(&link).unwrap();
        }
        symlink(&self.program, &link).unwrap();
        let output = Command::new(link)
            .args(&words[1..])
            .current_dir(self.path(""))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        let code = output.status.code();
        (code.unwrap_or_else(|| panic!("{words:?}: {text}")), text)
    }

    /// Changes all recovery files.
    fn spoil(&self, from: &[u8], to: &[u8]) {
        for entry in fs::read_dir(self.path("")).unwrap() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "par2")
            {
                let mut bytes = fs::read(&path).unwrap();
                for at in 0..bytes.len().saturating_sub(from.len()) {
                    if bytes[at..].starts_with(from) {
                        bytes[at..at + to.len()].copy_from_slice(to);
                    }
                }
                fs::write(path, bytes).unwrap();
            }
        }
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Returns the files below the folder. Of recovery files, only the names are compared.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        for folder in ["", "dir", "out"] {
            for entry in fs::read_dir(self.path(folder)).into_iter().flatten() {
                let entry = entry.unwrap();
                let path = entry.path();
                let bytes = match path.extension() {
                    _ if path.is_dir() => continue,
                    Some(extension) if extension == "par2" => Vec::new(),
                    _ => fs::read(&path).unwrap_or_default(),
                };
                files.insert(Path::new(folder).join(entry.file_name()), bytes);
            }
        }
        files
    }
}

/// Returns the lines that say what was found.
fn verdict(output: &str) -> Vec<&str> {
    const STARTS: [&str; 13] = [
        "There are ",
        "The block size used was ",
        "The total size ",
        "You have ",
        "You need ",
        "All files are correct",
        "Repair is ",
        "Repair complete",
        "None of the recovery blocks",
        "Block size: ",
        "Source ",
        "Recovery block count: ",
        "Recovery file count: ",
    ];
    let lines = output.split(['\n', '\r']);
    let is_verdict = |line: &&str| {
        let is_count = line.contains(" file(s) ") || line.contains(" recovery blocks will be used");
        is_count || STARTS.iter().any(|start| line.starts_with(start))
    };
    lines.filter(is_verdict).collect()
}

/// A change of the folder before the program runs.
type Change = fn(&Place);

/// The situations: a change of a protected folder, and a command line.
const SITUATIONS: &[(Change, &str)] = &[
    (|_| (), "par2 v s.par2"),
    (|_| (), "par2 verify -q s.par2"),
    (|_| (), "par2 V -t1 -T1 -m16 -v -v s"),
    (|_| (), "par2 r -N -S5 s.vol0+1.par2"),
    (|_| (), "par2 v -a s.par2"),
    (|_| (), "par2 v -a s.par2 -- aa"),
    (|_| (), "par2verify s.par2"),
    (|_| (), "par2repair s.par2"),
    (|_| (), "par2 v -p s.par2"),
    // Damage.
    (
        |place| place.write("aa", &content("aa", 5000)[..4000]),
        "par2 v s.par2",
    ),
    (
        |place| place.write("aa", &content("aa", 5000)[..4000]),
        "par2 r s.par2",
    ),
    (
        |place| place.write("aa", &content("aa", 5000)[..4000]),
        "par2repair -q s.par2",
    ),
    (
        |place| place.write("aa", &content("aa", 5000)[..4000]),
        "par2 r -p s.par2",
    ),
    (
        |place| place.write("aa", &content("aa", 5000)[..1900]),
        "par2 v s.par2",
    ),
    (
        |place| place.write("aa", &content("aa", 5000)[..1900]),
        "par2 r -p s.par2",
    ),
    (
        |place| place.write("aa", content("aa", 5000).repeat(2)),
        "par2 r s.par2",
    ),
    (
        |place| {
            place.write("aa", &content("aa", 5000)[1..]);
            place.write("aa.1", "mine");
        },
        "par2 r s.par2",
    ),
    (
        |place| fs::remove_file(place.path("bb")).unwrap(),
        "par2 v s.par2",
    ),
    (
        |place| fs::remove_file(place.path("bb")).unwrap(),
        "par2 r s.par2",
    ),
    (
        |place| fs::remove_file(place.path("aa")).unwrap(),
        "par2 v s.par2",
    ),
    (
        |place| fs::remove_file(place.path("aa")).unwrap(),
        "par2 r -q -q s.par2",
    ),
    // Other names.
    (|place| place.rename("aa", "zz"), "par2 v s.par2"),
    (|place| place.rename("aa", "zz"), "par2 v s.par2 zz"),
    (
        |place| place.rename("aa", "zz"),
        "par2 r s.par2 zz dir absent",
    ),
    (|place| place.rename("aa", "dir/zz"), "par2 r s.par2 dir/zz"),
    // Recovery files.
    (
        |place| fs::remove_file(place.path("s.par2")).unwrap(),
        "par2 v s.par2",
    ),
    (
        |place| fs::remove_file(place.path("s.par2")).unwrap(),
        "par2 v s",
    ),
    (
        |place| fs::remove_file(place.path("s.par2")).unwrap(),
        "par2 v s.vol3+3.par2",
    ),
    (|place| place.rename("s.par2", "t.par2"), "par2 v t.par2"),
    (
        |place| place.rename("s.vol3+3.par2", "t.par2"),
        "par2 v s.par2",
    ),
    (
        |place| place.rename("s.vol3+3.par2", "t.par2"),
        "par2 v s.par2 t.par2",
    ),
    (|place| place.write("s.par2", ""), "par2 v s.par2"),
    (|place| place.write("t.par2", ""), "par2 v t.par2"),
    (
        |place| place.spoil(b"PAR 2.0\0Main", b"PAR 3"),
        "par2 v s.par2",
    ),
    (|place| place.spoil(b"PAR2\0PKT", b"x"), "par2 r s.par2"),
    (
        |place| place.spoil(b"PAR 2.0\0RecvSlic", b"PAR 3"),
        "par2 v s.par2",
    ),
    (
        |place| {
            place.spoil(b"PAR 2.0\0RecvSlic", b"PAR 3");
            place.write("aa", &content("aa", 5000)[1..]);
        },
        "par2 v s.par2",
    ),
    // Another folder.
    (|place| recovery_files_to_out(place), "par2 v out/s.par2"),
    (
        |place| recovery_files_to_out(place),
        "par2 v -B. out/s.par2",
    ),
    (|place| recovery_files_to_out(place), "par2 v -B . out/s"),
    // Wrong arguments.
    (|_| (), "par2"),
    (|_| (), "par2 v"),
    (|_| (), "par2 x s.par2"),
    (|_| (), "par2 v -Z s.par2"),
    (|_| (), "par2 v --recursive s.par2"),
    (|_| (), "par2 v -r5 s.par2"),
    (|_| (), "par2 v -b5 s.par2"),
    (|_| (), "par2 v -q -v s.par2"),
    (|_| (), "par2 v -m0 s.par2"),
    (|_| (), "par2 v -S5 s.par2"),
    (|_| (), "par2 v absent.par2"),
    (|_| (), "par2 v absent"),
    (|_| (), "par2 v aa"),
    (|_| (), "par2 v s*"),
    (|_| (), "par2 v -q"),
    // Creation.
    (|_| (), "par2 c -s500 -c6 t aa bb"),
    (|_| (), "par2 create -s500 -c6 -u t.par2 aa bb"),
    (|_| (), "par2create -s500 -c20 -l t.par2 aa bb"),
    (|_| (), "par2create -b30 -r20 t.par2 aa bb"),
    (|_| (), "par2 c -q -s500 -r10 -f7 t aa"),
    (|_| (), "par2 c -s500 -c6 aa"),
    (|_| (), "par2 c -s500 t aa -c9"),
    (|_| (), "par2 c -s500 -c3 t aa empty absent aa ../bin/par2"),
    (|_| (), "par2 c -s500 -c3 t aa dir"),
    (|_| (), "par2 c -s500 -c3 -R t aa dir"),
    (|_| (), "par2 c -s500 -c0 t aa"),
    (
        |place| fs::create_dir(place.path("out")).unwrap(),
        "par2 c -B./ -s500 -c1 out/t aa bb",
    ),
    (
        |place| fs::create_dir(place.path("out")).unwrap(),
        "par2 c -s500 -c1 out/t aa bb",
    ),
    (|_| (), "par2 c -s500 t.par2"),
    (|_| (), "par2 c -s500 t"),
    (|_| (), "par2 c -s500 t absent"),
    (|_| (), "par2 c -s500 t empty"),
    (|_| (), "par2 c -s500 t dir"),
    (|_| (), "par2 c -s501 t aa"),
    (|_| (), "par2 c -b1 t aa bb"),
    (|_| (), "par2 c -b0 t aa"),
    (|_| (), "par2 c -b5 -s500 t aa"),
    (|_| (), "par2 c -c3 -r3 t aa"),
    (|_| (), "par2 c -r0 t aa"),
    (|_| (), "par2 c -u -l t aa"),
    (|_| (), "par2 c -l -n3 t aa"),
    (|_| (), "par2 c -f32769 t aa"),
    (|_| (), "par2 c -p t aa"),
    (|_| (), "par2 c t? aa"),
];

fn recovery_files_to_out(place: &Place) {
    fs::create_dir(place.path("out")).unwrap();
    for name in ["s.par2", "s.vol0+1.par2", "s.vol1+2.par2", "s.vol3+3.par2"] {
        place.rename(name, &format!("out/{name}"));
    }
}

/// Compares what two programs do in the same situation. Returns what differs.
fn compare(theirs: &Path, change: Change, line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let [(ours, our_place), (theirs, their_place)] = [Path::new(OURS), theirs].map(|program| {
        let place = Place::protected(program);
        change(&place);
        (place.run(&words), place)
    });
    let (our_files, their_files) = (our_place.files(), their_place.files());
    let what = match () {
        () if ours.0 != theirs.0 => format!("status {} instead of {}", ours.0, theirs.0),
        () if verdict(&ours.1) != verdict(&theirs.1) => "another verdict".into(),
        () if !our_files.keys().eq(their_files.keys()) => {
            let (ours, theirs) = (our_files.keys(), their_files.keys());
            format!("{ours:?} instead of {theirs:?}")
        }
        () if our_files != their_files => "other content".into(),
        () => return None,
    };
    Some(format!("{line}: {what}\n{}\n{}", ours.1, theirs.1))
}

fn compare_all(theirs: &Path, situations: &[(Change, &str)]) {
    let differences = situations
        .iter()
        .filter_map(|(change, line)| compare(theirs, *change, line));
    let differences: Vec<String> = differences.collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn par2cmdline_does_the_same() {
    if let Some(theirs) = par2cmdline() {
        compare_all(&theirs, SITUATIONS);
    }
}

#[test]
fn par2cmdline_turbo_does_the_same() {
    if let Some(theirs) = turbo() {
        compare_all(&theirs, SITUATIONS);
        // A number of files gives all of them the same size, as in newer versions of par2cmdline.
        compare_all(&theirs, &[(|_| (), "par2 c -s500 -c6 -n3 t aa")]);
    }
}

/// What only some versions have, or what differs on purpose.
#[test]
fn statuses_of_our_own() {
    let ours = Path::new(OURS);
    let run = |change: Change, line: &str| {
        let place = Place::protected(ours);
        change(&place);
        let words: Vec<&str> = line.split(' ').collect();
        let (status, output) = place.run(&words);
        (status, output, place)
    };
    for (change, line, status) in [
        // par2cmdline has the status of a file that cannot be read.
        (
            (|place| place.spoil(b"FileDesc", b"x")) as Change,
            "par2 v s.par2",
            4,
        ),
        // The digest of a file suffices, if it is intact.
        (
            |place| place.spoil(b"PAR 2.0\0IFSC", b"PAR 3"),
            "par2 v s.par2",
            0,
        ),
        // par2cmdline 0.8.1 has status 6 for the first of these, never ends in the second, and does not know the others.
        (|_| (), "par2 c -s500 -c6 s.par2 aa bb", 3),
        (|_| (), "par2 c -n32 t aa", 3),
        (
            |place| place.write("list", "aa\n\n  \nbb\r\n"),
            "par2 c -c3 t @list",
            0,
        ),
        (|_| (), "par2 c t @absent", 3),
        (|place| place.rename("aa", "zz"), "par2 r -O s.par2 zz", 0),
        (
            |place| fs::create_dir(place.path("t.vol0+1.par2")).unwrap(),
            "par2 c -c1 t aa",
            6,
        ),
        (|place| link(place, "aa", "ln"), "par2 c -c1 t ln", 3),
        (|place| link(place, "aa", "ln"), "par2 c -c1 -L t ln", 0),
        (|place| link(place, "aa", "ln"), "par2 c -c1 ln", 0),
        (
            |place| link(place, "aa", "dir/ln"),
            "par2 c -R -L -c1 t dir",
            0,
        ),
        (|place| place.write("s.par", ""), "par2 v s.par", 3),
        (|_| (), "par2 v -as.par2 -- aa", 0),
        (|_| (), "par2 -h", 0),
        (|_| (), "par2 -V", 0),
        (|_| (), "par2repair --help", 0),
    ] {
        let found = run(change, line);
        assert_eq!(found.0, status, "{line}: {}", found.1);
    }
    // A link out of the folder is not followed.
    let (status, output, place) = run(
        |place| {
            fs::remove_file(place.path("bb")).unwrap();
            symlink("../bin/new", place.path("bb")).unwrap();
        },
        "par2 r s.par2",
    );
    assert_eq!(status, 6, "{output}");
    assert!(output.contains("a symbolic link leads out"), "{output}");
    assert!(!place.folder.path().join("bin/new").exists());
    // The command of the same name has its own options.
    let place = Place::protected(ours);
    let output = place.run(&["hashlane", "par2", "verify", "s.par2", "--quiet"]);
    assert_eq!(output, (0, String::new()));
}

fn link(place: &Place, target: &str, name: &str) {
    symlink(place.path(target), place.path(name)).unwrap();
}
