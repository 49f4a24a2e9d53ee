//! Runs over folders in which files change, rot, move and vanish.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hashlane_archive::{
    CancelToken, Catalogue, Error, Event, FILE_NAME, Format, IfMissing, Job, Limits, List, Options,
    Reason, Summary, Verdict, check, scrub, update,
};
use rusqlite::Connection;

use crate::random::Random;

/// A folder with a catalogue.
pub(crate) struct Archive {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) catalogue: PathBuf,
}

/// A path, its verdict, and the path that the file moved from or is a copy of.
pub(crate) type Found = (String, Verdict, Option<String>);

/// What a catalogue has of each file, except times of checks.
type Rows = Vec<(Vec<u8>, i64, i64, i64, i64, Vec<u8>)>;

impl Archive {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let archive = Self {
            catalogue: Catalogue::default_place(folder.path()),
            folder,
        };
        for (path, content) in files {
            archive.write(path, content);
        }
        archive
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Writes a file, and sets its time of modification back.
    pub(crate) fn rot(&self, path: &str, content: &str) {
        let path = self.path(path);
        let modified = path.metadata().unwrap().modified().unwrap();
        let mut file = File::options().write(true).open(path).unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file.set_modified(modified).unwrap();
    }

    pub(crate) fn job(&self) -> Job<'_> {
        Job {
            folder: self.folder.path(),
            options: Options::default(),
            cancel: CancelToken::default(),
        }
    }

    pub(crate) fn open(&self) -> Catalogue {
        Catalogue::open_or_create(&self.catalogue).unwrap()
    }

    pub(crate) fn update(&self) -> (Summary, Vec<Found>) {
        let mut found = Vec::new();
        let receive = &mut |event: Event<'_>| take(&mut found, &event);
        let result = update(&mut self.open(), &self.job(), IfMissing::Report, receive);
        (result.unwrap(), found)
    }

    fn forget(&self) -> Result<Vec<Found>, Error> {
        let mut found = Vec::new();
        let receive = &mut |event: Event<'_>| take(&mut found, &event);
        update(&mut self.open(), &self.job(), IfMissing::Forget, receive)?;
        Ok(found)
    }

    fn check(&self) -> (Summary, Vec<Found>) {
        let mut found = Vec::new();
        let receive = &mut |event: Event<'_>| take(&mut found, &event);
        let result = check(&mut self.open(), &self.job(), receive);
        (result.unwrap(), found)
    }

    pub(crate) fn scrub(&self, limits: Limits) -> (Summary, Vec<Found>) {
        let mut found = Vec::new();
        let receive = &mut |event: Event<'_>| take(&mut found, &event);
        let result = scrub(&mut self.open(), &self.job(), limits, receive);
        (result.unwrap(), found)
    }

    fn rows(&self) -> Rows {
        rows(&self.catalogue)
    }

    /// Returns the rows of a catalogue that is made anew.
    fn fresh_rows(&self) -> Rows {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("fresh");
        let mut fresh = Catalogue::open_or_create(&path).unwrap();
        update(&mut fresh, &self.job(), IfMissing::Report, &mut |_| ()).unwrap();
        drop(fresh);
        rows(&path)
    }

    /// Runs a statement on the catalogue.
    fn execute(&self, sql: &str) {
        let connection = Connection::open(&self.catalogue).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    /// Changes rows of the catalogue, with their checks.
    pub(crate) fn change(&self, sql: &str) {
        let mut connection = Connection::open(&self.catalogue).unwrap();
        connection.execute_batch(sql).unwrap();
        let transaction = connection.transaction().unwrap();
        let mut total = (0, 0_i64);
        {
            let mut select = transaction.prepare("SELECT * FROM files").unwrap();
            let mut rows = select.query([]).unwrap();
            let set = "UPDATE files SET row_check = ?2 WHERE path = ?1";
            let mut set = transaction.prepare(set).unwrap();
            while let Some(row) = rows.next().unwrap() {
                let (path, check) = (row.get::<_, Vec<u8>>(0).unwrap(), row_check(row));
                set.execute((path, check)).unwrap();
                total = (total.0 + 1, total.1.wrapping_add(check));
            }
        }
        let set = "UPDATE total SET n_files = ?1, row_checks = ?2";
        transaction.execute(set, total).unwrap();
        transaction.commit().unwrap();
    }
}

/// Returns the check of a row, as docs/reference/archive.md defines it.
fn row_check(row: &rusqlite::Row<'_>) -> i64 {
    let bytes = |column| row.get::<_, Vec<u8>>(column).unwrap();
    let number = |column| row.get::<_, i64>(column).unwrap().to_be_bytes();
    let (path, rot_since) = (bytes(0), row.get::<_, Option<i64>>(8).unwrap());
    let message = [
        &(path.len() as u64).to_be_bytes()[..],
        &[number(1), number(2), number(3), number(4)].concat(),
        &path,
        &bytes(5),
        &[number(6), number(7)].concat(),
        &i64::from(rot_since.is_some()).to_be_bytes(),
        &rot_since.unwrap_or(0).to_be_bytes(),
    ];
    let digest = hashlane_sha::digest::<hashlane_sha::Sha256>(&message.concat());
    i64::from_be_bytes(digest.as_ref()[..8].try_into().unwrap())
}

fn rows(catalogue: &Path) -> Rows {
    let connection = Connection::open(catalogue).unwrap();
    let select = "SELECT path, size, mtime_ns, ctime_ns, inode, sha256 FROM files ORDER BY path";
    let mut select = connection.prepare(select).unwrap();
    let rows = select.query_map([], |row| row.try_into()).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// Keeps the verdicts except `intact`.
fn take(found: &mut Vec<Found>, event: &Event<'_>) {
    if let Event::File(finding) = event
        && finding.verdict != Verdict::Intact
    {
        let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        found.push((text(finding.path), finding.verdict, finding.from.map(text)));
    }
}

fn found(path: &str, verdict: Verdict) -> Found {
    (path.into(), verdict, None)
}

fn found_from(path: &str, verdict: Verdict, from: &str) -> Found {
    (path.into(), verdict, Some(from.into()))
}

#[test]
fn only_new_and_changed_files_are_read() {
    let archive = Archive::new(&[("a", "one"), ("b/c", "two"), ("b-d", "")]);
    let (summary, new) = archive.update();
    let mut paths: Vec<&str> = new.iter().map(|(path, ..)| path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["a", "b-d", "b/c"]);
    assert!(new.iter().all(|(_, verdict, _)| *verdict == Verdict::New));
    assert_eq!(summary.read_bytes, 6);
    let rows = archive.rows();
    let digest = hashlane_sha::digest::<hashlane_sha::Sha256>(b"two");
    assert_eq!(rows[2].0, b"b/c");
    assert_eq!(rows[2].5, digest.as_ref());

    let (summary, nothing) = archive.update();
    assert_eq!((summary.read_bytes, nothing), (0, Vec::new()));
    assert_eq!(summary.count(Verdict::Unchanged), 3);

    archive.write("b/c", "three");
    archive.write("new", "four");
    let (summary, changed) = archive.update();
    let expected = [found("b/c", Verdict::Changed), found("new", Verdict::New)];
    assert_eq!(changed, expected);
    assert_eq!(summary.read_bytes, 9);
    assert_eq!(archive.rows(), archive.fresh_rows());
}

#[test]
fn rot_is_found_by_every_run_until_it_is_repaired() {
    let archive = Archive::new(&[("a", "content"), ("b", "other")]);
    archive.update();
    let good = archive.rows();
    archive.rot("a", "cOntent");
    let rot = [found("a", Verdict::Rot)];
    for round in 0..2 {
        assert_eq!(archive.scrub(Limits::default()).1, rot, "{round}");
        assert_eq!(archive.check().1, rot, "{round}");
        assert_eq!(archive.update().1, rot, "{round}");
    }
    assert_eq!(
        archive.rows(),
        good,
        "the digest of the right content stays"
    );
    archive.rot("a", "content");
    assert_eq!(archive.update().1, [found("a", Verdict::Repaired)]);
    assert_eq!(archive.check().1, []);
    assert_eq!(archive.rows(), archive.fresh_rows());
}

/// A file that was found rotten is read by an update although its times are those of the catalogue.
#[test]
fn known_rot_is_read_again_by_an_update() {
    let archive = Archive::new(&[("a", "content")]);
    archive.update();
    archive.change("UPDATE files SET sha256 = zeroblob(32)");
    assert_eq!(archive.update().1, [], "nothing shows that it has rotted");
    let rot = [found("a", Verdict::Rot)];
    assert_eq!(archive.scrub(Limits::default()).1, rot);
    assert_eq!(archive.update().1, rot);
}

#[test]
fn a_rotten_file_that_is_touched_is_taken_as_changed() {
    let archive = Archive::new(&[("a", "content")]);
    archive.update();
    archive.rot("a", "cOntent");
    archive.update();
    archive.write("a", "cOntent");
    assert_eq!(archive.check().1, [found("a", Verdict::Changed)]);
    assert_eq!(
        archive.scrub(Limits::default()).1,
        [found("a", Verdict::Changed)]
    );
    assert_eq!(archive.update().1, [found("a", Verdict::Changed)]);
    assert_eq!(archive.check().1, []);
    assert_eq!(archive.rows(), archive.fresh_rows());
}

/// Otherwise, the rotten content would be taken for that of a new file.
#[test]
fn a_rotten_file_that_is_renamed_is_still_rotten() {
    let archive = Archive::new(&[("a", "content"), ("b", "other")]);
    archive.update();
    archive.rot("a", "cOntent");
    fs::rename(archive.path("a"), archive.path("z")).unwrap();
    let moved = [found_from("z", Verdict::Rot, "a")];
    assert_eq!(archive.check().1, moved);
    assert_eq!(archive.update().1, moved);
    assert_eq!(archive.update().1, [found("z", Verdict::Rot)]);
    archive.rot("z", "content");
    assert_eq!(archive.update().1, [found("z", Verdict::Repaired)]);
    assert_eq!(archive.rows(), archive.fresh_rows());
}

#[test]
fn a_file_that_lost_its_end_without_another_time_is_rotten() {
    let archive = Archive::new(&[("a", "content")]);
    archive.update();
    let file = File::options().write(true).open(archive.path("a")).unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    file.set_len(3).unwrap();
    file.set_modified(modified).unwrap();
    let rot = [found("a", Verdict::Rot)];
    assert_eq!(archive.scrub(Limits::default()).1, rot);
    assert_eq!(archive.update().1, rot);
}

#[test]
fn other_times_of_equal_content_are_no_change() {
    let archive = Archive::new(&[("a", "content")]);
    archive.update();
    archive.write("a", "content");
    let (summary, nothing) = archive.update();
    assert_eq!((summary.count(Verdict::Intact), nothing), (1, Vec::new()));
    assert_eq!(archive.rows(), archive.fresh_rows());
}

#[test]
fn a_renamed_folder_is_not_read_again() {
    let archive = Archive::new(&[("a/b", "one"), ("a/c", "two"), ("d", "")]);
    archive.update();
    archive.change("UPDATE files SET first_checked = 7");
    fs::rename(archive.path("a"), archive.path("z")).unwrap();
    let (summary, moved) = archive.update();
    let expected = [
        found_from("z/b", Verdict::Moved, "a/b"),
        found_from("z/c", Verdict::Moved, "a/c"),
    ];
    let mut moved = moved;
    moved.sort();
    assert_eq!(moved, expected);
    assert_eq!(summary.read_bytes, 0);
    assert_eq!(archive.rows(), archive.fresh_rows());
    let connection = Connection::open(&archive.catalogue).unwrap();
    let count = "SELECT count(*) FROM files WHERE first_checked = 7";
    let n: i64 = connection.query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(n, 3, "a file keeps its first check");
}

#[test]
fn moved_and_copied_content_is_recognized() {
    let archive = Archive::new(&[("a", "one"), ("b", "two"), ("c", "three"), ("empty", "")]);
    archive.update();
    // Another inode.
    archive.write("moved", "one");
    fs::remove_file(archive.path("a")).unwrap();
    archive.write("copy", "two");
    archive.write("also moved", "one");
    archive.write("new", "four");
    archive.write("new empty", "");
    fs::remove_file(archive.path("c")).unwrap();
    let expected = |mut all: Vec<Found>| {
        all.sort();
        let (moved, other): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|(_, it, _)| *it == Verdict::Moved);
        let [(to, _, from)] = &moved[..] else {
            panic!("{moved:?}");
        };
        assert_eq!(from.as_deref(), Some("a"));
        // One of the two is called a copy of the other.
        let second = ["moved", "also moved"].into_iter().find(|it| it != to);
        let mut expected = vec![
            found_from(second.unwrap(), Verdict::Copied, to),
            found("c", Verdict::Missing),
            found_from("copy", Verdict::Copied, "b"),
            found("new", Verdict::New),
            found("new empty", Verdict::New),
        ];
        expected.sort();
        assert_eq!(other, expected);
    };
    let before = archive.rows();
    expected(archive.check().1);
    assert_eq!(archive.rows(), before, "a check takes nothing");
    expected(archive.update().1);
    let missing = [found("c", Verdict::Missing)];
    assert_eq!(archive.update().1, missing);
    assert_eq!(archive.forget().unwrap(), missing);
    assert_eq!(archive.update().1, []);
    assert_eq!(archive.rows(), archive.fresh_rows());
}

#[test]
fn an_empty_folder_makes_nothing_forgotten() {
    let archive = Archive::new(&[("a", "one")]);
    archive.update();
    fs::remove_file(archive.path("a")).unwrap();
    let error = archive.forget().unwrap_err();
    assert!(matches!(error.reason, Reason::NoFiles), "{error:?}");
    assert_eq!(archive.rows().len(), 1);
}

#[test]
fn names_are_bytes_and_links_are_left_out() {
    let archive = Archive::new(&[("folder/file", "x")]);
    let names: [&[u8]; 4] = [b"\xff\xfe", b"line\nfeed", b"quote'\"", b"folder\xff/\x01"];
    for name in names {
        let path = archive
            .folder
            .path()
            .join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    symlink("folder", archive.path("link")).unwrap();
    symlink("..", archive.path("folder/up")).unwrap();
    fs::hard_link(archive.path("folder/file"), archive.path("hard")).unwrap();
    let (summary, _) = archive.update();
    assert_eq!(summary.left_out, 2);
    let rows = archive.rows();
    let mut expected: Vec<&[u8]> = [b"folder/file", b"hard".as_slice()].into();
    expected.extend(names);
    expected.sort_unstable();
    let paths: Vec<&[u8]> = rows.iter().map(|row| row.0.as_slice()).collect();
    assert_eq!(paths, expected);
    assert_eq!(archive.check().1, []);
}

#[test]
fn the_catalogue_does_not_have_itself() {
    let mut archive = Archive::new(&[("a", "one")]);
    archive.update();
    archive.catalogue = archive.path("other name");
    archive.update();
    archive.catalogue = archive.path("below/it");
    fs::create_dir(archive.path("below")).unwrap();
    // While the catalogue is open, there are files of SQLite beside it.
    archive.update();
    let paths: Vec<Vec<u8>> = archive.rows().into_iter().map(|row| row.0).collect();
    // A catalogue with a name of its own is a file like others for another catalogue, and so is its lock.
    let expected: [&[u8]; 3] = [b"a", b"other name", b"other name-lock"];
    assert_eq!(paths, expected);
    assert!(archive.path(FILE_NAME).exists());
}

#[test]
fn a_file_that_changes_while_it_is_read_has_no_digest() {
    let archive = Archive::new(&[("a", "one")]);
    let path = archive.path("growing");
    let file = File::create(&path).unwrap();
    file.set_len(512 << 20).unwrap();
    let mut found = Vec::new();
    let receive = &mut |event: Event<'_>| {
        if let Event::Read { .. } = event {
            (&file).write_all(b"x").unwrap();
        }
        take(&mut found, &event);
    };
    let summary = update(
        &mut archive.open(),
        &archive.job(),
        IfMissing::Report,
        receive,
    );
    assert_eq!(summary.unwrap().count(Verdict::Unstable), 1);
    found.sort();
    let expected = [
        self::found("a", Verdict::New),
        self::found("growing", Verdict::Unstable),
    ];
    assert_eq!(found, expected);
    assert_eq!(archive.rows().len(), 1);
}

#[test]
fn a_scrub_reads_within_its_limits_what_was_not_read_for_longest() {
    let archive = Archive::new(&[("a", "123456"), ("b", "1234"), ("c", "12345678")]);
    archive.update();
    archive.change(
        "UPDATE files SET last_checked = CASE path WHEN x'61' THEN 3 WHEN x'62' THEN 1 ELSE 2 END",
    );
    for path in ["a", "b", "c"] {
        archive.rot(path, "x");
    }
    let limits = |budget| {
        let mut limits = Limits::default();
        limits.budget = Some(budget);
        limits
    };
    // At least one file is read.
    let (summary, rotten) = archive.scrub(limits(1));
    assert_eq!(rotten, [found("b", Verdict::Rot)]);
    assert_eq!((summary.read_bytes, summary.left_files), (4, 2));
    let (summary, mut rotten) = archive.scrub(limits(14));
    rotten.sort();
    assert_eq!(rotten, [found("a", Verdict::Rot), found("c", Verdict::Rot)]);
    assert_eq!((summary.read_bytes, summary.left_files), (14, 1));

    let mut old = Limits::default();
    old.min_age = Some(Duration::from_secs(3600));
    assert_eq!(archive.scrub(old).0.count(Verdict::Rot), 0);
    archive.change("UPDATE files SET last_checked = last_checked - 4000 WHERE path = x'61'");
    assert_eq!(archive.scrub(old).1, [found("a", Verdict::Rot)]);

    let mut no_time = Limits::default();
    no_time.max_time = Some(Duration::ZERO);
    assert_eq!(archive.scrub(no_time).0.left_files, 3);
}

#[test]
fn a_cancelled_run_keeps_what_it_has() {
    let archive = Archive::new(&[]);
    for i in 0..10_000 {
        archive.write(&format!("{}/{i}", i % 7), &i.to_string());
    }
    let mut n_runs = 0;
    loop {
        let job = archive.job();
        let mut n_new = 0;
        let receive = &mut |event: Event<'_>| {
            n_new += u64::from(matches!(event, Event::File(_)));
            if n_new > 2000 {
                job.cancel.cancel();
            }
        };
        let summary = update(&mut archive.open(), &job, IfMissing::Report, receive).unwrap();
        if !summary.is_interrupted {
            break;
        }
        assert!(!archive.rows().is_empty());
        n_runs += 1;
    }
    assert!(n_runs > 0, "a run was cancelled");
    assert_eq!(archive.rows(), archive.fresh_rows());
}

#[test]
fn one_run_at_a_time_changes_a_catalogue() {
    let archive = Archive::new(&[("a", "one")]);
    archive.update();
    let held = archive.open();
    for result in [
        Catalogue::open_or_create(&archive.catalogue),
        Catalogue::open(&archive.catalogue),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(error.reason, Reason::InUse), "{error:?}");
    }
    // A reader does not wait.
    let mut n = 0;
    let reader = Catalogue::open_to_read(&archive.catalogue).unwrap();
    let count = |_: hashlane_archive::Entry<'_>| {
        n += 1;
        Ok::<(), Error>(())
    };
    reader.for_each(count).unwrap();
    assert_eq!(n, 1);
    drop(held);
    archive.open();
}

/// Returns the reason why a file is refused by each way of opening it.
fn refused(path: &Path) -> Reason {
    let reasons = [
        Catalogue::open_or_create(path),
        Catalogue::open(path),
        Catalogue::open_to_read(path),
    ]
    .map(|result| result.unwrap_err().reason);
    let names = reasons.each_ref().map(std::mem::discriminant);
    assert!(names.iter().all(|name| *name == names[0]), "{reasons:?}");
    let [first, ..] = reasons;
    first
}

#[test]
fn other_files_are_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(
        &text,
        "This is no database at all, but has more bytes than a header. ".repeat(99),
    )
    .unwrap();
    let other = folder.path().join("other");
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE notes (text)")
        .unwrap();
    let foreign_id = folder.path().join("id");
    Connection::open(&foreign_id)
        .unwrap()
        .execute_batch("PRAGMA application_id = 5")
        .unwrap();
    for path in [&text, &other, &foreign_id] {
        let before = fs::read(path).unwrap();
        let reason = refused(path);
        assert!(matches!(reason, Reason::Foreign), "{reason:?}");
        assert_eq!(fs::read(path).unwrap(), before);
    }
    assert!(matches!(refused(folder.path()), Reason::Foreign));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn without_a_catalogue_only_an_update_works() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent");
    let empty = folder.path().join("empty");
    File::create(&empty).unwrap();
    for path in [&absent, &empty] {
        for result in [Catalogue::open(path), Catalogue::open_to_read(path)] {
            let reason = result.unwrap_err().reason;
            assert!(matches!(reason, Reason::Absent), "{reason:?}");
        }
    }
    assert!(!absent.exists());
    // A run that was killed at its start leaves such a file.
    Catalogue::open_or_create(&empty).unwrap();
    Catalogue::open(&empty).unwrap();
}

#[test]
fn newer_and_changed_schemas_are_refused() {
    let archive = Archive::new(&[("a", "one")]);
    archive.update();
    archive.execute("PRAGMA user_version = 2");
    let reason = refused(&archive.catalogue);
    assert!(
        matches!(reason, Reason::Newer { found: 2, known: 1 }),
        "{reason:?}"
    );
    archive.execute("PRAGMA user_version = 0");
    assert!(matches!(refused(&archive.catalogue), Reason::Damaged(_)));
    archive.execute(
        "PRAGMA user_version = 1;
         CREATE TRIGGER t AFTER UPDATE ON files BEGIN DELETE FROM files; END",
    );
    assert!(matches!(refused(&archive.catalogue), Reason::Damaged(_)));
    archive.execute("DROP TRIGGER t");
    archive.open();
}

/// Damage in any page is refused, or shows as damage when the page is read.
#[test]
fn a_damaged_catalogue_is_refused() {
    const PAGE: usize = 4096;
    let archive = Archive::new(&[]);
    for i in 0..300 {
        archive.write(&format!("folder/{i}"), "");
    }
    archive.update();
    // Damage in a free page would do no harm.
    archive.execute("VACUUM");
    let good = fs::read(&archive.catalogue).unwrap();
    let n_pages = good.len() / PAGE;
    assert!(n_pages > 5, "{n_pages}");
    for page in 0..n_pages {
        for (what, from, to) in [
            ("header", 0, 64),
            ("end", PAGE - 512, PAGE),
            ("whole", 0, PAGE),
        ] {
            let mut bad = good.clone();
            for byte in &mut bad[page * PAGE + from..page * PAGE + to] {
                *byte = !*byte;
            }
            fs::write(&archive.catalogue, &bad).unwrap();
            let result = Catalogue::open(&archive.catalogue);
            let reason = result.map(drop).map_err(|error| error.reason);
            let is_refused = match reason {
                Err(Reason::Damaged(_)) => true,
                // The first page has the header and the schema.
                Err(Reason::Foreign | Reason::Database(_)) => page == 0,
                _ => false,
            };
            assert!(is_refused, "{what} of page {page}: {reason:?}");
        }
    }
    fs::write(&archive.catalogue, &good[..good.len() - PAGE]).unwrap();
    assert!(matches!(refused(&archive.catalogue), Reason::Damaged(_)));
    fs::write(&archive.catalogue, &good).unwrap();
    archive.open();
}

/// A flipped bit is damage of the catalogue, or changes nothing: it was a verdict about a file, or hid one.
#[test]
fn a_flipped_bit_of_a_catalogue_is_no_verdict_about_a_file() {
    let archive = Archive::new(&[("a", "one"), ("b/c", "two"), ("d", "")]);
    archive.update();
    archive.execute("PRAGMA journal_mode = DELETE");
    let good = fs::read(&archive.catalogue).unwrap();
    let read = || {
        let catalogue = Catalogue::open_to_read(&archive.catalogue)?;
        let mut found = Vec::new();
        catalogue.for_each(|entry| {
            found.push(format!("{entry:?}"));
            Ok::<(), Error>(())
        })?;
        Ok::<_, Error>(found)
    };
    let expected = read().unwrap();
    let mut n_refused = 0;
    // One byte in seven, and each bit in turn.
    for place in (0..good.len()).step_by(7) {
        let mut bad = good.clone();
        bad[place] ^= 1 << (place % 8);
        fs::write(&archive.catalogue, &bad).unwrap();
        match read() {
            Ok(found) => assert_eq!(found, expected, "byte {place}"),
            Err(_) => n_refused += 1,
        }
    }
    assert!(n_refused > 40, "{n_refused}");
}

/// What no run writes, such as a hostile catalogue has it.
#[test]
fn rows_that_no_run_writes_are_refused() {
    for sql in [
        "UPDATE files SET path = CAST('../a' AS BLOB)",
        "UPDATE files SET path = CAST('/etc/a' AS BLOB)",
        "UPDATE files SET path = CAST('a//b' AS BLOB)",
        "UPDATE files SET path = CAST('a/.' AS BLOB)",
        "UPDATE files SET path = x'6100'",
        "PRAGMA ignore_check_constraints = 1; UPDATE files SET size = -1",
    ] {
        let archive = Archive::new(&[("a", "one")]);
        archive.update();
        archive.change(sql);
        let reason = refused(&archive.catalogue);
        assert!(matches!(reason, Reason::Damaged(_)), "{sql}: {reason:?}");
    }
    for sql in [
        "UPDATE files SET size = 4",
        "DELETE FROM files",
        "DELETE FROM total",
        "INSERT INTO total VALUES (0, 0)",
    ] {
        let archive = Archive::new(&[("a", "one")]);
        archive.update();
        archive.execute(sql);
        let reason = refused(&archive.catalogue);
        assert!(matches!(reason, Reason::Damaged(_)), "{sql}: {reason:?}");
    }
}

#[test]
fn a_link_to_nothing_is_not_followed_to_make_a_catalogue() {
    let archive = Archive::new(&[("a", "one")]);
    let other = tempfile::tempdir().unwrap();
    let target = other.path().join("new");
    symlink(&target, &archive.catalogue).unwrap();
    for result in [
        Catalogue::open_or_create(&archive.catalogue),
        Catalogue::open(&archive.catalogue),
        Catalogue::open_to_read(&archive.catalogue),
    ] {
        let reason = result.unwrap_err().reason;
        assert!(matches!(reason, Reason::Dangling), "{reason:?}");
    }
    assert!(!target.exists());
    // A link to a catalogue is followed.
    drop(Catalogue::open_or_create(&target).unwrap());
    archive.open();
}

/// After any changes, an update leads to the catalogue that a new one would be.
#[test]
fn random_changes_lead_to_the_catalogue_of_a_new_run() {
    let mut random = Random::new(1);
    let mut next = |n| random.below(n);
    let archive = Archive::new(&[("keep", "this")]);
    // A file that takes the place of one with the same time of modification is called rot, and the clock of a file system has
    // ticks of milliseconds.
    let mut now = SystemTime::UNIX_EPOCH;
    let mut set_time = |path: &str| {
        now += Duration::from_secs(1);
        if let Ok(file) = File::options().write(true).open(archive.path(path)) {
            file.set_modified(now).unwrap();
        }
    };
    for round in 0..60 {
        for _ in 0..next(8) {
            let folder = format!("{}", next(4));
            let (one, two) = (
                format!("{folder}/{}", next(6)),
                format!("{}/{}", next(4), next(6)),
            );
            let content = "x".repeat(next(4));
            match next(6) {
                0 | 1 => {
                    archive.write(&one, &content);
                    set_time(&one);
                }
                2 => drop(fs::remove_file(archive.path(&one))),
                3 => drop(fs::rename(archive.path(&one), archive.path(&two))),
                4 => {
                    drop(fs::copy(archive.path(&one), archive.path(&two)));
                    set_time(&two);
                }
                _ => {
                    let to = archive.path(&format!("{}", next(4)));
                    if !to.exists() {
                        drop(fs::rename(archive.path(&folder), to));
                    }
                }
            }
        }
        if next(3) == 0 {
            archive.check();
        }
        archive.forget().unwrap();
        assert_eq!(archive.rows(), archive.fresh_rows(), "round {round}");
        assert_eq!(archive.check().1, [], "round {round}");
    }
}

#[test]
fn lists_have_the_forms_of_other_programs() {
    let archive = Archive::new(&[("a,\"b\"", "x"), ("plain", "")]);
    archive.write("line\nfeed", "");
    let name = archive
        .folder
        .path()
        .join(std::ffi::OsStr::from_bytes(b"\xff"));
    fs::write(name, "").unwrap();
    archive.update();
    archive.change(
        "UPDATE files SET mtime_ns = -1, ctime_ns = 2, inode = -3, first_checked = 4, last_checked = 5;
         UPDATE files SET rot_since = 6 WHERE size = 1",
    );
    let list = |format: Format| {
        let catalogue = Catalogue::open_to_read(&archive.catalogue).unwrap();
        let (mut text, mut n_left_out) = (Vec::new(), 0);
        let mut list = List::new(format, &mut text).unwrap();
        let write = |entry: hashlane_archive::Entry<'_>| {
            n_left_out += u32::from(!list.add(&entry, &mut text).unwrap());
            Ok::<(), Error>(())
        };
        catalogue.for_each(write).unwrap();
        list.finish(&mut text).unwrap();
        (text, n_left_out)
    };
    let x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let numbers = |size| format!("{size},-1,2,18446744073709551613");
    let csv = format!(
        "path,path_hex,size,mtime_ns,ctime_ns,inode,sha256,first_checked,last_checked,rot_since\r\n\
         \"a,\"\"b\"\"\",,{},{x},4,5,6\r\n\
         \"line\nfeed\",,{},{nothing},4,5,\r\n\
         plain,,{},{nothing},4,5,\r\n\
         \u{fffd},ff,{},{nothing},4,5,\r\n",
        numbers(1),
        numbers(0),
        numbers(0),
        numbers(0)
    );
    assert_eq!(list(Format::Csv), (csv.into_bytes(), 0));
    let mut sums = format!("{x}  a,\"b\"\n\\{nothing}  line\\nfeed\n{nothing}  plain\n{nothing}  ")
        .into_bytes();
    sums.extend(b"\xff\n");
    assert_eq!(list(Format::Sha256sum), (sums, 0));
    let (hashdeep, n_left_out) = list(Format::Hashdeep);
    assert_eq!(n_left_out, 1);
    let start = format!(
        "%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n## Exported by hashlane archive\n##\n1,{x},./a,\"b\"\n0,{nothing},./plain\n"
    );
    assert!(hashdeep.starts_with(start.as_bytes()));
    let manifest =
        format!("{x}  data/a,\"b\"\n{nothing}  data/line%0Afeed\n{nothing}  data/plain\n");
    assert_eq!(list(Format::Bagit), (manifest.into_bytes(), 1));
}

/// Reads the file back by the library that wrote it. The tests of the program use pyarrow.
#[test]
fn a_parquet_file_has_all_columns_of_all_rows() {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::RowAccessor as _;

    let archive = Archive::new(&[("plain", "x")]);
    let name = std::ffi::OsStr::from_bytes(b"\xff");
    fs::write(archive.folder.path().join(name), "").unwrap();
    archive.update();
    // More rows than a row group has.
    archive.change(
        "UPDATE files SET mtime_ns = -1, ctime_ns = 2, inode = -3, first_checked = 4, last_checked = 5;
         UPDATE files SET rot_since = 6 WHERE size = 1;
         INSERT INTO files WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000)
         SELECT CAST('more/' || i AS BLOB), i, 0, 0, i, zeroblob(32), 0, 0, NULL, 0 FROM n",
    );
    let catalogue = Catalogue::open_to_read(&archive.catalogue).unwrap();
    let (mut bytes, mut parts) = (Vec::new(), Vec::new());
    let mut list = List::new(Format::Parquet, &mut bytes).unwrap();
    let write = |entry: hashlane_archive::Entry<'_>| {
        assert!(list.add(&entry, &mut bytes).unwrap());
        if !bytes.is_empty() {
            parts.push(std::mem::take(&mut bytes));
        }
        Ok::<(), Error>(())
    };
    catalogue.for_each(write).unwrap();
    assert_eq!(parts.len(), 1, "a row group is passed on when it is full");
    list.finish(&mut bytes).unwrap();
    parts.push(bytes);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&parts.concat()).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    assert_eq!(reader.metadata().num_row_groups(), 2);
    let rows: Vec<_> = reader
        .get_row_iter(None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(rows.len(), 70_002);
    let names: Vec<&str> = rows[0]
        .get_column_iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(
        names.join(","),
        "path,path_hex,size,mtime_ns,ctime_ns,inode,sha256,first_checked,last_checked,rot_since"
    );
    let row = &rows[70_000];
    assert_eq!(row.get_string(0).unwrap(), "plain");
    assert!(row.get_string(1).is_err(), "no value");
    let numbers = [2, 3, 4, 7, 8, 9].map(|column| row.get_long(column).unwrap());
    assert_eq!(numbers, [1, -1, 2, 4, 5, 6]);
    assert_eq!(row.get_ulong(5).unwrap(), u64::MAX - 2);
    let digest = hashlane_sha::digest::<hashlane_sha::Sha256>(b"x");
    assert_eq!(row.get_bytes(6).unwrap().data(), digest.as_ref());
    let last = &rows[70_001];
    assert_eq!(last.get_string(0).unwrap(), "\u{fffd}");
    assert_eq!(last.get_string(1).unwrap(), "ff");
    assert!(last.get_long(9).is_err(), "no value");
}

/// The threads of the run end, the panic reaches the caller, and the next run finds all files.
#[test]
fn a_panic_of_the_receiver_ends_the_run() {
    let archive = Archive::new(&[]);
    for i in 0..300 {
        archive.write(&format!("{}/{i}", i % 7), &i.to_string());
    }
    let panics = |run: &mut dyn FnMut()| {
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"as a test"));
    };
    let receive = |_: Event<'_>| panic!("as a test");
    panics(&mut || {
        let (mut open, job) = (archive.open(), archive.job());
        let _ = update(&mut open, &job, IfMissing::Report, &mut { receive });
    });
    archive.update();
    assert_eq!(archive.rows(), archive.fresh_rows());
    panics(&mut || {
        let (mut open, job) = (archive.open(), archive.job());
        let _ = scrub(&mut open, &job, Limits::default(), &mut { receive });
    });
    archive.rot("0/0", "1");
    panics(&mut || {
        let _ = check(&mut archive.open(), &archive.job(), &mut { receive });
    });
}
