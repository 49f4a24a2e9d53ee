//! Reading does not change access times.

use std::fs::{self, File, FileTimes};
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hashlane_files::{Root, SourceFile, WritableRoot};

use crate::not_run::not_run;

/// Sets the access time to a time before the last change, so that an ordinary read changes it.
/// Returns the time.
fn make_old(path: &Path) -> SystemTime {
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_accessed(old)).unwrap();
    fs::metadata(path).unwrap().accessed().unwrap()
}

#[test]
fn reading_below_a_root_leaves_the_access_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    fs::write(&path, "content").unwrap();
    let accessed = || fs::metadata(&path).unwrap().accessed().unwrap();

    let old = make_old(&path);
    let mut text = String::new();
    File::open(&path)
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    if accessed() == old {
        return not_run(
            "reading leaves the access time",
            "the file system records none",
            "set TMPDIR to a folder that is not mounted with noatime",
        );
    }

    let reads: [fn(&Path) -> SourceFile; 2] = [
        |folder| Root::open(folder).unwrap().open_file("f".as_ref()).unwrap(),
        |folder| SourceFile::open(&folder.join("f")).unwrap(),
    ];
    for read in reads {
        let old = make_old(&path);
        let mut bytes = [0; 7];
        read(folder.path()).read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"content");
        assert_eq!(accessed(), old);
    }
    let old = make_old(&path);
    let root = WritableRoot::create(folder.path()).unwrap();
    let file = root.open_file("f".as_ref()).unwrap();
    file.as_source().read_exact_at(&mut [0; 7], 0).unwrap();
    assert_eq!(accessed(), old);
}
