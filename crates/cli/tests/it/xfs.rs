//! A disk image with XFS, whose files can share their bytes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::not_run::{not_run, not_run_unless_required};

/// Runs a test in the folder of a new XFS file system of 320 MiB. Reports if none can be mounted.
pub(crate) fn on_xfs(test: impl FnOnce(&Path) + std::panic::UnwindSafe) {
    if cfg!(hashlane_portable) {
        return not_run(
            "clones on XFS",
            "the fallbacks for other systems make none",
            "cargo xtask test",
        );
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
        return not_run_unless_required(
            "XFS",
            "clones on XFS",
            "no image with this file system can be mounted",
            "run as root with xfsprogs, where loop devices exist",
        );
    }
    let result = std::panic::catch_unwind(|| test(&disk));
    let _ = Command::new("umount").arg(&disk).status();
    result.unwrap();
}
