//! Names and passwords.

use std::net::IpAddr;

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
