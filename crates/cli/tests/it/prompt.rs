//! Questions on a terminal: of `recover -` and of `edit`.

use std::fs;
use std::path::Path;

use crate::fixture::demo;
use crate::terminal::Terminal;

/// Types texts at the prompts of `recover -`. Returns the exit status and the text that the terminal showed.
fn typed(texts: &[&str]) -> Option<(i32, String)> {
    let terminal = Terminal {
        prompt: "String: ",
        typed: texts,
        is_hidden: true,
        ..Terminal::default()
    };
    terminal.run(Path::new("."), &["recover", "-"], &[])
}

#[test]
fn a_terminal_shows_a_prompt_and_hides_the_input() {
    let texts = [
        "1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71\n",
        "\n",
        "1LBCFR7SAHTD9CGDQO3HTMTKV8LK4ZNX71\n",
        "\u{4}",
    ];
    let Some((code, shown)) = typed(&texts) else {
        return;
    };
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("Ctrl-D ends the input."), "{shown}");
    let found = "1Lbcfr7sAHTD9CgdQo3HTMTkV8LK4ZnX71  (Bitcoin address, 1...)";
    assert_eq!(shown.matches(found).count(), 2, "{shown}");
    // The progress line of a search names the string, but only after the search has started.
    let first = shown.find("String: ").unwrap();
    let answer = &shown[first..shown.find("1 hit of").unwrap()];
    assert!(!answer.contains("1LBC"), "{answer}");
    assert!(
        !shown.contains("1LBCFR7SAHTD9CGDQO3HTMTKV8LK4ZNX71\r\n"),
        "{shown}"
    );
}

#[test]
fn ctrl_c_at_the_prompt_leaves_the_terminal_as_it_was() {
    for (text, status) in [("\u{3}", 130), ("\u{4}", 2)] {
        let Some((code, shown)) = typed(&[text]) else {
            return;
        };
        assert_eq!(code, status, "{shown}");
    }
}

#[test]
fn an_answer_to_edit_decides_what_is_written() {
    let before = fs::read(demo().join("union-addresses.torrent")).unwrap();
    for (answer, status, is_changed) in [("y\n", 0, true), ("\n", 2, false), ("\u{3}", 130, false)]
    {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["a.torrent", "b.torrent"].map(|name| folder.path().join(name));
        fs::write(&first, &before).unwrap();
        fs::write(&second, &before).unwrap();
        let terminal = Terminal {
            prompt: "Continue? [y/N] ",
            typed: if status == 130 {
                &[answer]
            } else {
                &[answer, answer]
            },
            ..Terminal::default()
        };
        let args = ["edit", "-s", "here", "a.torrent", "b.torrent"];
        let Some((code, shown)) = terminal.run(folder.path(), &args, &[]) else {
            return;
        };
        assert_eq!(code, status, "{shown}");
        for torrent in [first, second] {
            assert_eq!(fs::read(torrent).unwrap() != before, is_changed, "{shown}");
        }
        // Nothing but the two files is left.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
