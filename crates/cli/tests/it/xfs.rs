//! A disk image with XFS, whose files can share their bytes.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// Runs a test in the folder of a new XFS file system of 320 MiB. Without the means, prints that the test is not run.
pub(crate) fn on_xfs(test: impl FnOnce(&Path) + std::panic::UnwindSafe) {
    if cfg!(hashlane_portable) {
        let _ = writeln!(std::io::stderr(), "NOT RUN: clones need the calls of Linux");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let script =
        "truncate -s 320M \"$1\" && mkfs.xfs -q -m reflink=1 \"$1\" && mount -o loop \"$1\" \"$2\"";
    let mut mount = Command::new("sh");
    mount.args(["-c", script, "sh"]).arg(&image).arg(&disk);
    let mounted = mount.output().is_ok_and(|output| output.status.success());
    if !mounted {
        assert!(
            std::env::var_os("HASHLANE_TEST_REQUIRE_XFS").is_none(),
            "an XFS file system cannot be mounted"
        );
        let _ = writeln!(
            std::io::stderr(),
            "NOT RUN: clones on XFS need root, xfsprogs and loop devices"
        );
        return;
    }
    let result = std::panic::catch_unwind(|| test(&disk));
    let _ = Command::new("umount").arg(&disk).status();
    result.unwrap();
}
