//! Disks that are full, broken or not mounted.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::not_run::not_run_unless_required;
use crate::wait_for;

/// Runs a program, and returns `true` if it succeeds.
pub(crate) fn run(program: &str, args: &[&str], paths: &[&Path]) -> bool {
    let mut command = Command::new(program);
    let status = command
        .args(args)
        .args(paths)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// Runs a script of the shell, whose `$0` is a path.
pub(crate) fn script(text: &str, path: &Path) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", text]).arg(path).output().unwrap()
}

/// Mounts a file system of memory, or changes its options.
pub(crate) fn mount(options: &str, at: &Path) -> bool {
    run("mount", &["-t", "tmpfs", "-o", options, "tmpfs"], &[at])
}

/// Reports a test that needs a file system of memory, which cannot be mounted.
pub(crate) fn report_no_mount() {
    not_run_unless_required(
        "MOUNT",
        "tests of disks",
        "no file system of memory can be mounted",
        "run as root",
    );
}

/// Reports a test that needs the image of a file system, which cannot be mounted, with the errors of the commands.
pub(crate) fn report_no_image(errors: &[u8]) {
    not_run_unless_required(
        "LOOP",
        "tests of disks that fail",
        &format!(
            "no image can be mounted ({})",
            String::from_utf8_lossy(errors).trim()
        ),
        "run as root with e2fsprogs, where loop devices exist",
    );
}

/// Runs a test on a file system of memory, which is unmounted before an assertion fails.
pub(crate) fn on_disk(options: &str, test: impl FnOnce(&Path)) {
    let disk = tempfile::tempdir().unwrap();
    if !mount(options, disk.path()) {
        return report_no_mount();
    }
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| test(disk.path())));
    run("umount", &["--lazy"], &[disk.path()]);
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// A file system on an image of 20 MiB, until it is dropped.
pub(crate) struct Image(tempfile::TempDir);

impl Image {
    /// Mounts an image on a disk that holds `size`, for example `1m`. It holds the file system itself at least. `None` if images
    /// cannot be mounted here.
    pub(crate) fn mount(size: &str) -> Option<Self> {
        let image = Self(tempfile::tempdir().unwrap());
        // The inodes are written now, so that a full disk loses no other bytes than those of files.
        let mounted = script(
            &format!(
                "cd \"$0\" && mkdir disk content && mount -t tmpfs -o size={size} tmpfs disk && truncate -s 20M disk/image &&
                 mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0,nodiscard -N 64 disk/image"
            ),
            image.0.path(),
        );
        if mounted.status.success() && image.mount_again() {
            return Some(image);
        }
        report_no_image(&mounted.stderr);
        None
    }

    /// The folder of the file system. It is empty while nothing is mounted.
    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("content")
    }

    /// Changes the space of the disk that holds the image.
    pub(crate) fn resize_disk(&self, size: &str) {
        let options = format!("remount,size={size}");
        assert!(mount(&options, &self.0.path().join("disk")));
    }

    /// Cuts off the end of the image, so that the disk can no longer read the blocks there. Nothing remains in memory before.
    pub(crate) fn cut_to(&self, size: &str) {
        wait_for(|| self.unmount());
        assert!(self.mount_again());
        let cut = format!("truncate -s {size} \"$0/disk/image\"");
        assert!(script(&cut, self.0.path()).status.success());
    }

    /// Makes the file system read-only, as the kernel does after an error of the disk. Open files become read-only too.
    pub(crate) fn fail(&self) {
        let fail = r#"device=$(findmnt -no SOURCE "$0") && echo 1 >"/sys/fs/ext4/${device#/dev/}/trigger_fs_error""#;
        let failed = script(fail, &self.path());
        assert!(failed.status.success(), "{failed:?}");
    }

    /// Unmounts the file system, unless a process has a file or a folder of it open.
    pub(crate) fn unmount(&self) -> bool {
        run("umount", &[], &[&self.path()])
    }

    /// Mounts the file system again.
    pub(crate) fn mount_again(&self) -> bool {
        // A mount namespace that another test has made keeps a copy of an earlier mount, and what the memory has of it.
        let is_free = r#"test -z "$(losetup --associated "$0/disk/image")""#;
        wait_for(|| script(is_free, self.0.path()).status.success());
        let mount = r#"cd "$0" && mount -o loop,errors=remount-ro disk/image content"#;
        script(mount, self.0.path()).status.success()
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // Also unmounts the first file system if the second mount failed.
        let unmount =
            "cd \"$0\"; umount --lazy content 2>/dev/null; umount --lazy disk 2>/dev/null";
        script(unmount, self.0.path());
    }
}
