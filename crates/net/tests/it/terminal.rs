//! The modes of the terminal that controls the process.

use std::process::Command;

use super::peers::{Content, seed_text_command};
use crate::not_run::is_installed;

/// Runs a command in a new terminal whose other end the script controls, and prints the result.
/// `background` and `foreground` select how the command starts.
const SCRIPT: &str = r#"
import fcntl, os, pty, signal, sys, termios, time

def hides_control_keys(terminal):
    return not termios.tcgetattr(terminal)[3] & termios.ECHOCTL

def wait_until(condition, what):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    sys.exit("not in 10 s: " + what)

start, interrupts, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
master, slave = pty.openpty()
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    # The session leader, as a shell: it gives the terminal to the command, or not.
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        if start == "foreground":
            os.tcsetpgrp(slave, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for stream in range(3):
            os.dup2(slave, stream)
        os.execv(command[0], command)
    if start == "background":
        time.sleep(2)
        ended, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
        if ended and os.WIFSTOPPED(status):
            os.kill(child, signal.SIGKILL)
            os._exit(90)
        if ended or hides_control_keys(slave):
            os.kill(child, signal.SIGKILL)
            os._exit(91)
        os.tcsetpgrp(slave, child)
        os.kill(child, signal.SIGCONT)
    _, status = os.waitpid(child, 0)
    os.tcsetpgrp(slave, os.getpid())
    os._exit(os.waitstatus_to_exitcode(status) & 127)

# The terminal's output is read, or the process would wait for room in it.
import threading
output = []
threading.Thread(target=lambda: [output.append(x) for x in iter(lambda: os.read(master, 4096), b"")], daemon=True).start()
ended = []
threading.Thread(target=lambda: ended.append(os.waitpid(pid, 0)[1])).start()
wait_until(lambda: ended or hides_control_keys(slave), "control keys are hidden")
for _ in range(interrupts):
    os.write(master, b"\x03")
    time.sleep(0.3)
wait_until(lambda: ended, "the end")
code = os.waitstatus_to_exitcode(ended[0])
assert code not in (90, 91), "stopped by the terminal, or it changed the modes" if code == 90 else "modes"
assert termios.tcgetattr(slave) == before, (before, termios.tcgetattr(slave))
print(code, b"".join(output))
"#;

/// Runs `seed` in a terminal, and returns its exit status.
fn seed_in_terminal(start: &str, interrupts: u32) -> Option<i32> {
    if !is_installed("PYTHON", "python3", "python3") {
        return None;
    }
    let content = Content::new();
    let torrent = content.torrent("file.bin", "v1");
    let mut command = Command::new("python3");
    command.args(["-c", SCRIPT, start, &interrupts.to_string()]);
    let seed = seed_text_command(&[&torrent], content.path(), &[]);
    command.arg(seed.get_program()).args(seed.get_args());
    let output = command.env("TERM", "xterm").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn a_seed_in_the_background_is_not_stopped() {
    if let Some(code) = seed_in_terminal("background", 1) {
        assert_eq!(code, 0);
    }
}

#[test]
fn an_interrupt_leaves_the_terminal_as_it_was() {
    for interrupts in [1, 2] {
        if let Some(code) = seed_in_terminal("foreground", interrupts) {
            assert!([0, 2].contains(&code), "{code}");
        }
    }
}
