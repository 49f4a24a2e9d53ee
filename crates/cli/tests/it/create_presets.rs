//! Presets of `hashlane create`.

use std::fs;
use std::path::Path;

use crate::create::{content, in_folder};
use crate::fixture::{Ended, end, hashlane};

const PRESETS: &str = r#"
[site]
announce = ["https://a/announce,https://b/announce", "udp://c:80"]
source = "SITE"
private = true
comment = "from a preset"
exclude = ["*.nfo"]
piece-lengths = [
    { up-to = "1KiB", piece-length = "32KiB" },
    { up-to = "1MiB", piece-length = "17" },
    { piece-length = "1MiB" },
]

[open]
format = "hybrid"
entropy = true
web-seed = ["https://w/"]
node = ["host:1"]
include = ["*.mkv"]
max-piece-length = "64KiB"
target-pieces = 1
"#;

fn create(folder: &Path, options: &[&str]) -> Ended {
    let args = ["create", "content", "--force", "--presets", "presets.toml"];
    in_folder(folder, &[&args[..], options].concat())
}

fn shown(folder: &Path, options: &[&str]) -> String {
    let ended = create(folder, options);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    in_folder(folder, &["show", "content.torrent"]).stdout
}

fn with_presets(files: &[(&str, usize)]) -> tempfile::TempDir {
    let folder = content(files);
    fs::write(folder.path().join("presets.toml"), PRESETS).unwrap();
    folder
}

#[test]
fn a_preset_gives_options() {
    let folder = with_presets(&[("a.mkv", 300_000), ("a.nfo", 1)]);
    let site = shown(folder.path(), &["--preset", "site"]);
    for expected in [
        "version     version 1\n",
        "in 1 file, 3 pieces of 128 KiB\n",
        "private     yes",
        "source      SITE\n",
        "comment     from a preset\n",
        "tier 1  https://a/announce\n",
        "tier 1  https://b/announce\n",
        "tier 2  udp://c:80\n",
    ] {
        assert!(site.contains(expected), "{expected}: {site}");
    }
    let open = shown(folder.path(), &["--preset", "open"]);
    for expected in [
        "(version 2)\n",
        "in 1 file, 5 pieces of 64 KiB\n",
        "https://w/\n",
        "host:1\n",
    ] {
        assert!(open.contains(expected), "{expected}: {open}");
    }
    let bytes = fs::read(folder.path().join("content.torrent")).unwrap();
    assert!(bytes.windows(9).any(|key| key == b"7:entropy"));
}

#[test]
fn options_of_the_command_line_win() {
    let folder = with_presets(&[("a.mkv", 300_000), ("a.nfo", 1), ("b.tmp", 1)]);
    let options = [
        "--preset=site",
        "--private=0",
        "-s=OTHER",
        "-c=mine",
        "-a=https://d/",
        "-l=16KiB",
        "-x=*.tmp",
        "--format=v2",
    ];
    let site = shown(folder.path(), &options);
    for expected in [
        "version     version 2\n",
        // Patterns to exclude are added.
        "in 1 file, 19 pieces of 16 KiB\n",
        "source      OTHER\n",
        "comment     mine\n",
        "tier 1  https://d/\n",
    ] {
        assert!(site.contains(expected), "{expected}: {site}");
    }
    assert!(
        !site.contains("private  ") && !site.contains("https://a"),
        "{site}"
    );
    // One option about piece lengths replaces all of the preset's.
    let site = shown(folder.path(), &["--preset=site", "--target-pieces=100"]);
    assert!(site.contains("pieces of 16 KiB\n"), "{site}");
    let options = [
        "--preset=open",
        "--entropy=0",
        "--include=*.nfo",
        "-w=https://v/",
    ];
    let open = shown(folder.path(), &options);
    assert!(
        open.contains("a.nfo\n") && !open.contains("a.mkv"),
        "{open}"
    );
    assert!(
        open.contains("https://v/") && !open.contains("https://w/"),
        "{open}"
    );
    let bytes = fs::read(folder.path().join("content.torrent")).unwrap();
    assert!(!bytes.windows(9).any(|key| key == b"7:entropy"));
}

#[test]
fn presets_of_the_user() {
    let folder = with_presets(&[("a", 1)]);
    for (variable, value, config) in [
        ("XDG_CONFIG_HOME", "config", "config/hashlane"),
        ("HOME", "home", "home/.config/hashlane"),
    ] {
        let config = folder.path().join(config);
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("presets.toml"), "[mine]\nsource = \"HERE\"\n").unwrap();
        let mut command = hashlane();
        command.env_remove("XDG_CONFIG_HOME").env_remove("HOME");
        command.env(variable, folder.path().join(value));
        command.current_dir(folder.path());
        command.args(["create", "content", "--force", "--preset", "mine"]);
        let ended = end(&mut command);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        let shown = in_folder(folder.path(), &["show", "content.torrent"]).stdout;
        assert!(shown.contains("source      HERE\n"), "{shown}");
    }
}

#[test]
fn errors_name_the_file_and_the_line() {
    let folder = content(&[("a", 1)]);
    for (text, expected) in [
        (
            "[a]\nx = 1\n",
            "line 2: unknown field `x`, expected one of `announce`",
        ),
        (
            "[a]\n\nprivate = \"yes\"\n",
            "line 3: invalid type: string \"yes\"",
        ),
        (
            "[a]\nannounce = [\"tracker\"]\n",
            "line 2: \"tracker\": expected a URL",
        ),
        ("[a]\nnode = [\"host\"]\n", "line 2: \"host\": "),
        (
            "[a]\npiece-length = \"3KiB\"\n",
            "line 2: \"3KiB\": 3072 bytes are not a power",
        ),
        (
            "[a]\ntarget-pieces = 0\n",
            "line 2: invalid value: integer `0`",
        ),
        ("[a]\nformat = \"v3\"\n", "line 2: unknown variant `v3`"),
        (
            "[a]\npiece-lengths = [\n  { up-to = \"1GiB\" },\n]\n",
            "line 3: missing field `piece-length`",
        ),
        ("[a]\n[b\n", "line 2: "),
        ("a = 1\n", "line 1: invalid type: integer"),
        ("[b]\n[c]\n", "no preset \"a\": the file has b, c\n"),
        ("", "no preset \"a\": the file has no preset\n"),
    ] {
        fs::write(folder.path().join("presets.toml"), text).unwrap();
        let ended = create(folder.path(), &["--preset", "a"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{text}");
        let expected = format!("hashlane: presets.toml: {expected}");
        assert!(
            ended.stderr.starts_with(&expected),
            "{text}: {}",
            ended.stderr
        );
    }
    // A pattern is checked as if it came from the option.
    fs::write(
        folder.path().join("presets.toml"),
        "[a]\nexclude = [\"[\"]\n",
    )
    .unwrap();
    let ended = create(folder.path(), &["--preset", "a"]);
    assert!(
        ended.stderr.starts_with("hashlane: --exclude [: "),
        "{}",
        ended.stderr
    );
    assert_eq!(
        create(folder.path(), &[]).code,
        Some(2),
        "--presets needs --preset"
    );
    fs::remove_file(folder.path().join("presets.toml")).unwrap();
    let ended = create(folder.path(), &["--preset", "a"]);
    let expected = "hashlane: presets.toml: No such file or directory (os error 2)\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(2), expected));
}
