//! `hashlane recover -` on a terminal.

use std::io::Write as _;
use std::process::Command;

/// Runs a command in a new terminal, types some text at each prompt, and prints the exit status and the text that the
/// terminal showed. The first argument is a list of the texts in JSON.
const SCRIPT: &str = r#"
import fcntl, json, os, pty, sys, termios, threading, time

def wait_until(condition, what):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    sys.exit("not in 30 s: " + what + ": " + repr(b"".join(shown)))

typed, command = json.loads(sys.argv[1]), sys.argv[2:]
master, slave = pty.openpty()
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    # A shell, which keeps the terminal when the command ends.
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        for stream in range(3):
            os.dup2(slave, stream)
        import signal
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(slave, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(command[0], command)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 127)

shown, ended = [], []
def read():
    while True:
        part = os.read(master, 4096)
        if not part:
            return
        shown.append(part)
threading.Thread(target=read, daemon=True).start()
threading.Thread(target=lambda: ended.append(os.waitpid(pid, 0)[1])).start()
for n, text in enumerate(typed, 1):
    wait_until(lambda: b"".join(shown).count(b"String: ") >= n, f"prompt {n}")
    hidden = not termios.tcgetattr(slave)[3] & termios.ECHO
    assert hidden, "the terminal shows what is typed"
    os.write(master, text.encode())
wait_until(lambda: ended, "the end")
assert termios.tcgetattr(slave) == before, "the terminal is not as it was"
time.sleep(0.1)
print(os.waitstatus_to_exitcode(ended[0]))
print(b"".join(shown).decode())
"#;

/// Types texts at the prompts of `recover -`. Returns the exit status and the text that the terminal showed.
fn typed(texts: &str) -> Option<(i32, String)> {
    if Command::new("python3").arg("-V").output().is_err() {
        let _ = writeln!(std::io::stderr(), "NOT RUN: python3 is missing");
        return None;
    }
    let mut command = Command::new("python3");
    command.args(["-c", SCRIPT, texts]);
    command.args([env!("CARGO_BIN_EXE_hashlane"), "recover", "-"]);
    let output = command.env("TERM", "xterm").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (code, shown) = text.split_once('\n').unwrap();
    Some((code.parse().unwrap(), shown.to_owned()))
}

#[test]
fn a_terminal_shows_a_prompt_and_hides_the_input() {
    let texts = r#"["1lbcfr7sahtd9cgdqo3htmtkv8lk4znx71\n", "\n", "1LBCFR7SAHTD9CGDQO3HTMTKV8LK4ZNX71\n", "\u0004"]"#;
    let Some((code, shown)) = typed(texts) else {
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
    for (texts, status) in [(r#"["\u0003"]"#, 2), (r#"["\u0004"]"#, 2)] {
        let Some((code, shown)) = typed(texts) else {
            return;
        };
        assert_eq!(code, status, "{shown}");
    }
}
