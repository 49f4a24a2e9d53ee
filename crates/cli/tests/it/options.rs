use std::fs;

use crate::fixture::{Fixture, demo, end, hashlane, verify_demo};

#[test]
fn wrong_usage_ends_with_2() {
    for args in [
        &["verify"][..],
        &[],
        &["frobnicate"],
        &["verify", "a", "--io", "floppy"],
        &["verify", "a", "--threads", "0"],
        &["verify", "a", "--content", "b", "--dir", "c"],
        &["verify", "a", "b", "--content", "c"],
        &["verify", "a", "b", "--bitfield", "c"],
    ] {
        let ended = end(hashlane().args(args));
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{args:?}"
        );
        assert!(!ended.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn help_and_version_end_with_0() {
    let ended = end(hashlane().args(["verify", "--help"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended
            .stdout
            .contains("Exit status:\n  0  all content is present and right\n")
    );
    let ended = end(hashlane().arg("-V"));
    assert_eq!(
        ended.stdout,
        format!("hashlane {}\n", env!("CARGO_PKG_VERSION"))
    );
    let ended = end(hashlane()
        .arg("--version")
        .env("HASHLANE_BACKEND", "portable"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(
        ended.stdout.contains("sha1_x1_portable for many messages"),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_backend_is_chosen_by_name() {
    for backend in hashlane_sha::Backend::all() {
        for (folder, status) in [("good", 0), ("damaged", 1)] {
            let ended = end(verify_demo(folder).env("HASHLANE_BACKEND", backend.name()));
            if backend.is_available() {
                assert_eq!(ended.code, Some(status), "{backend}: {}", ended.stderr);
            } else {
                let expected = format!(
                    "hashlane: HASHLANE_BACKEND: \"{backend}\": this CPU cannot run the backend {backend}; \
                     available here: portable"
                );
                assert_eq!(ended.code, Some(2));
                assert!(ended.stderr.starts_with(&expected), "{}", ended.stderr);
            }
        }
    }
    // Each command refuses a wrong name, also one that hashes nothing, and so do drop-in programs.
    for args in [
        "verify x.torrent",
        "kernels",
        "completions bash",
        "sha256sum",
        "digest -a sha1",
    ] {
        let mut command = hashlane();
        command.args(args.split(' '));
        let ended = end(command.env("HASHLANE_BACKEND", "mmx"));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{args}");
        assert!(ended.stderr.starts_with(
            "hashlane: HASHLANE_BACKEND: \"mmx\": unknown backend; available here: portable"
        ));
    }
    assert_eq!(
        end(verify_demo("good").env("HASHLANE_BACKEND", "")).code,
        Some(0)
    );
}

#[test]
fn the_bitfield_has_the_first_piece_in_the_highest_bit() {
    let folder = tempfile::tempdir().unwrap();
    let bits = folder.path().join("bits");
    for (content, expected) in [
        ("damaged", [0xff, 0b1111_1011, 0b1111_0000]),
        ("good", [0xff, 0xff, 0b1111_0000]),
        ("nowhere", [0, 0, 0]),
    ] {
        end(verify_demo(content).arg("-qf").arg("--bitfield").arg(&bits));
        assert_eq!(fs::read(&bits).unwrap(), expected, "{content}");
    }
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing else is left there"
    );
    // The bitfield has the permissions of any other new file, also if the path is a link.
    let other = folder.path().join("other");
    fs::write(&other, b"").unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions();
    assert_eq!(mode(&bits), mode(&other));
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        end(verify_demo("good").arg("-qf").arg("--bitfield").arg(&link));
        assert_eq!(fs::read(&other).unwrap(), [0xff, 0xff, 0b1111_0000]);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}

/// One rule applies to every output file: an existing file is kept unless `--force` is given.
#[test]
fn an_existing_file_is_replaced_with_force_only() {
    let folder = tempfile::tempdir().unwrap();
    let bits = folder.path().join("bits");
    let torrent = folder.path().join("new.torrent");
    let page = folder.path().join("hashlane-show.1");
    let (bits_text, torrent_text) = (bits.to_str().unwrap(), torrent.to_str().unwrap());
    let pages = folder.path().to_str().unwrap();
    let demo_torrent = "union-addresses.torrent";
    for (file, args) in [
        (
            &bits,
            &[
                "verify",
                demo_torrent,
                "-q",
                "-d",
                "good",
                "--bitfield",
                bits_text,
            ][..],
        ),
        (&torrent, &["create", "good", "-q", "-o", torrent_text]),
        (
            &torrent,
            &["edit", demo_torrent, "-c", "new", "-o", torrent_text],
        ),
        (&page, &["man", "-o", pages]),
    ] {
        fs::write(file, b"mine").unwrap();
        let run = |options: &[&str]| end(hashlane().current_dir(demo()).args(args).args(options));
        let ended = run(&[]);
        let expected = format!(
            "hashlane: {}: exists: use --force to replace it\n",
            file.display()
        );
        assert_eq!((ended.code, ended.stderr), (Some(2), expected), "{args:?}");
        assert_eq!(fs::read(file).unwrap(), b"mine", "{args:?}");
        let ended = run(&["--force"]);
        assert_eq!(
            (ended.code, ended.stderr),
            (Some(0), String::new()),
            "{args:?}"
        );
        assert_ne!(fs::read(file).unwrap(), b"mine", "{args:?}");
    }
}

#[test]
fn the_bitfield_never_overwrites_the_torrent_or_its_content() {
    let fixture = Fixture::new("name", 4, &[("a", b"1234")]);
    // A missing file of the content is not created either.
    let gone = fixture.path("name/gone");
    let ended = end(fixture.verify().arg("--bitfield").arg(&gone));
    assert_eq!(ended.code, Some(2));
    assert!(!gone.exists());
    for path in ["name/a", "name.torrent"] {
        let path = fixture.path(path);
        let before = fs::read(&path).unwrap();
        let ended = end(fixture.verify().arg("--bitfield").arg(&path));
        assert_eq!(ended.code, Some(2));
        assert!(
            ended.stderr.contains(
                "refusing to overwrite a file that belongs to the torrent or its content"
            )
        );
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    let nowhere = fixture.path("no/such/folder/bits");
    let ended = end(fixture.verify().arg("--bitfield").arg(&nowhere));
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains(&format!("{}: ", nowhere.display())),
        "{}",
        ended.stderr
    );
}
