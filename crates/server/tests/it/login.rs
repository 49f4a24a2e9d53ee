//! Names and passwords.

use std::net::IpAddr;
use std::thread;

use hashlane_server::{Login, LoginError, Verdict};

/// The hash of `password`, as `argon2 saltsalt -id -t 1 -m 10 -p 1 -e` of Debian prints it.
const HASH: &str =
    "$argon2id$v=19$m=1024,t=1,p=1$c2FsdHNhbHQ$K3d0p3+qy/vMnh7ieSGpWo+MS4u+0dCEBSFTqjh5Q18";

fn address(last: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, last])
}

#[test]
fn a_password_and_its_hash() {
    for stored in ["password", HASH] {
        let login = Login::new("user", stored).unwrap();
        for _ in 0..2 {
            let right = login.check(address(1), Some(("user", "password")));
            assert_eq!(right, Verdict::Right, "{stored}");
            for wrong in [
                ("user", "Password"),
                ("User", "password"),
                ("user", ""),
                ("user", HASH),
            ] {
                assert_eq!(
                    login.check(address(2), Some(wrong)),
                    Verdict::Wrong,
                    "{wrong:?}"
                );
            }
        }
        assert!(!format!("{login:?}").contains("password"));
    }
}

#[test]
fn only_the_address_that_guesses_is_refused() {
    let login = Login::new("user", "password").unwrap();
    for _ in 0..20 {
        assert_eq!(login.check(address(1), None), Verdict::Wrong);
    }
    for _ in 0..10 {
        assert_eq!(login.check(address(1), Some(("user", "x"))), Verdict::Wrong);
    }
    assert_eq!(
        login.check(address(1), Some(("user", "password"))),
        Verdict::TooMany
    );
    assert_eq!(login.check(address(1), None), Verdict::TooMany);
    assert_eq!(
        login.check(address(2), Some(("user", "password"))),
        Verdict::Right
    );
}

#[test]
fn logins_that_nobody_can_use() {
    let error = |user: &str, password: &str| Login::new(user, password).unwrap_err();
    assert_eq!(error("", "p"), LoginError::Empty);
    assert_eq!(error("u", ""), LoginError::Empty);
    assert_eq!(error("a:b", "p"), LoginError::Colon);
    for hash in [
        "$argon2id$",
        "$argon2id$v=19$m=16,t=2,p=1$c2FsdHNhbHQ",
        "$argon2x$v=19$m=16,t=2,p=1$c2FsdHNhbHQ$aaaa",
    ] {
        assert!(matches!(error("u", hash), LoginError::Hash(_)), "{hash}");
    }
    let cost = HASH.replace("m=1024", "m=1048576");
    assert_eq!(error("u", &cost), LoginError::Cost);
}

/// Checks that run at once are counted before the next one starts.
#[test]
fn guesses_at_once_are_limited_like_others() {
    let login = Login::new("user", HASH).unwrap();
    let guesses = 60;
    let verdicts: Vec<Verdict> = thread::scope(|scope| {
        let guess = || login.check(address(1), Some(("user", "wrong")));
        let threads: Vec<_> = (0..guesses).map(|_| scope.spawn(guess)).collect();
        let verdicts = threads.into_iter().map(|thread| thread.join().unwrap());
        verdicts.collect()
    });
    let count = |wanted| verdicts.iter().filter(|one| **one == wanted).count();
    assert_eq!((count(Verdict::Wrong), count(Verdict::TooMany)), (10, 50));
}

/// An attacker can have many addresses. Programs that had the right password before are not refused because of them.
#[test]
fn guesses_of_many_addresses_are_limited_together() {
    let login = Login::new("user", "4712").unwrap();
    let right = Some(("user", "4712"));
    assert_eq!(login.check(address(1), right), Verdict::Right);
    let guesses = (0..10_000_u16).map(|guess| {
        let [high, low] = guess.to_be_bytes();
        let client = IpAddr::from([10, 0, high, low]);
        login.check(client, Some(("user", &format!("{guess:04}"))))
    });
    let verdicts: Vec<Verdict> = guesses.collect();
    let n_wrong = verdicts.iter().filter(|one| **one == Verdict::Wrong);
    assert_eq!(n_wrong.count(), 100);
    assert!(!verdicts.contains(&Verdict::Right));
    assert_eq!(login.check(address(1), right), Verdict::Right);
    assert_eq!(login.check(address(2), right), Verdict::TooMany);
    // Another login has limits of its own.
    let other = Login::new("user", "password").unwrap();
    assert_eq!(other.check(address(2), right), Verdict::Wrong);
}

/// Returns the greatest resident memory of this process so far in KiB.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}

/// Passwords are checked one after the other, whatever login and listener they are for.
#[cfg(target_os = "linux")]
#[test]
fn checks_take_the_memory_of_one() {
    const KIB: u64 = 8 << 10;
    crate::own_process::alone("login::checks_take_the_memory_of_one", || {
        let hash = HASH.replace("m=1024", &format!("m={KIB}"));
        let logins = [(); 4].map(|()| Login::new("user", &hash).unwrap());
        let before = peak();
        thread::scope(|scope| {
            for login in &logins {
                for client in 0..4 {
                    let guess = Some(("user", "wrong"));
                    scope.spawn(move || login.check(address(client), guess));
                }
            }
        });
        let grown = peak() - before;
        assert!((KIB / 2..2 * KIB).contains(&grown), "{grown} KiB");
    });
}
