use std::fs;

use crate::fixture::{end, hashlane};

#[test]
fn completions_for_every_shell_know_the_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = end(hashlane().args(["completions", shell]));
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{shell}"
        );
        for option in ["bitfield", "piece-length", "include", "no-web-seeds"] {
            assert!(ended.stdout.contains(option), "{shell}: {option}");
        }
    }
}

#[test]
fn man_pages_for_every_command() {
    let ended = end(hashlane().arg("man"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.contains(".TH hashlane 1"));
    for (command, text) in [
        ("verify", ".TH hashlane-verify 1"),
        ("sha1sum", "hashlane\\-sha1sum"),
    ] {
        let ended = end(hashlane().args(["man", command]));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        assert!(ended.stdout.contains(text), "{}", ended.stdout);
    }
    let ended = end(hashlane().args(["man", "verfy"]));
    let expected = "hashlane: verfy: no such command; `hashlane --help` lists them\n";
    assert_eq!(
        (ended.code, &*ended.stdout, &*ended.stderr),
        (Some(2), "", expected)
    );
    let folder = tempfile::tempdir().unwrap();
    let ended = end(hashlane().args(["man", "--output"]).arg(folder.path()));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    for command in [
        "verify", "create", "show", "magnet", "edit", "import", "recover",
    ] {
        let page = folder.path().join(format!("hashlane-{command}.1"));
        let page = fs::read_to_string(page).unwrap();
        assert!(page.contains("Exit status"), "{command}");
    }
    for program in ["digest", "mac", "sha1sum", "b2sum"] {
        let page = folder.path().join(format!("hashlane-{program}.1"));
        let page = fs::read_to_string(page).unwrap();
        let help = end(hashlane().args([program, "--help"])).stdout;
        for line in help.lines().filter(|line| line.contains("print")) {
            assert!(
                page.contains(&line.replace('-', "\\-")),
                "{program}: {line}"
            );
        }
    }
    // An absent folder is created.
    let new = folder.path().join("new/folder");
    let ended = end(hashlane().args(["man", "--output"]).arg(&new));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(new.join("hashlane-edit.1").is_file());
    let nowhere = new.join("hashlane-edit.1");
    let ended = end(hashlane().args(["man", "--output"]).arg(&nowhere));
    assert_eq!(ended.code, Some(2));
    assert!(
        ended
            .stderr
            .starts_with(&format!("hashlane: {}: ", nowhere.display()))
    );
}
