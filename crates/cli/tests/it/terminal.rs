//! Commands on a terminal.

use std::path::Path;
use std::process::Command;

use crate::fixture::hashlane;
use crate::not_run::is_installed;

/// Runs a command in a new terminal, types texts after prompts, and prints the exit status and the text that the terminal
/// showed. The first argument describes the terminal in JSON.
const SCRIPT: &str = r#"
import fcntl, json, os, pty, struct, sys, termios, threading, time

def wait_until(condition, what):
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    sys.exit("not in 60 s: " + what + ": " + repr(b"".join(shown)))

terminal, command = json.loads(sys.argv[1]), sys.argv[2:]
master, slave = pty.openpty()
size = struct.pack("HHHH", 24, terminal["columns"], 0, 0)
fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
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
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)

shown, ended = [], []
def read():
    try:
        while part := os.read(master, 4096):
            shown.append(part)
    except OSError:
        pass # The terminal is closed.
reader = threading.Thread(target=read, daemon=True)
reader.start()
threading.Thread(target=lambda: ended.append(os.waitpid(pid, 0)[1])).start()
prompt = terminal["prompt"].encode()
for n, text in enumerate(terminal["typed"], 1):
    wait_until(lambda: b"".join(shown).count(prompt) >= n, f"prompt {n}")
    is_hidden = not termios.tcgetattr(slave)[3] & termios.ECHO
    assert is_hidden == terminal["is_hidden"], "hides what is typed: " + str(is_hidden)
    os.write(master, text.encode())
wait_until(lambda: ended, "the end")
assert termios.tcgetattr(slave) == before, "the terminal is not as it was"
os.close(slave)
reader.join()
print(os.waitstatus_to_exitcode(ended[0]))
sys.stdout.flush()
sys.stdout.buffer.write(b"".join(shown))
"#;

/// A terminal, and a user who types.
pub(crate) struct Terminal<'t> {
    pub(crate) columns: usize,
    /// The prompt, and the texts that are typed after its first, second and following appearances.
    pub(crate) prompt: &'t str,
    pub(crate) typed: &'t [&'t str],
    /// Whether the terminal must hide what is typed.
    pub(crate) is_hidden: bool,
}

impl Default for Terminal<'_> {
    fn default() -> Self {
        Self {
            columns: 80,
            prompt: "",
            typed: &[],
            is_hidden: false,
        }
    }
}

impl Terminal<'_> {
    /// Runs the program in a folder, with changes of its environment. Returns the exit status and the text that the
    /// terminal showed, or `None` without Python.
    pub(crate) fn run(
        &self,
        folder: &Path,
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> Option<(i32, String)> {
        if !is_installed("PYTHON", "python3", "python3") {
            return None;
        }
        let description = serde_json::json!({
            "columns": self.columns,
            "prompt": self.prompt,
            "typed": self.typed,
            "is_hidden": self.is_hidden,
        });
        let program = hashlane();
        let mut command = Command::new("/usr/bin/env");
        command.args(["python3", "-c", SCRIPT, &description.to_string()]);
        command.arg(program.get_program()).args(args);
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.current_dir(folder).env("TERM", "xterm");
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let (code, shown) = text.split_once('\n').unwrap();
        Some((code.parse().unwrap(), shown.to_owned()))
    }
}
