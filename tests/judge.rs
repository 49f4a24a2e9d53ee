//! Reference implementations in Python, which make texts, damage them, and judge what is found.
//!
//! This file is a module of the tests of several crates, which have links to it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use crate::not_run::has_python_module;

/// Calls `make` of a script for each number, prints the text and the damaged text that it returns, and then reads texts that
/// `check` accepts or rejects.
const RUN: &str = r"
import random, sys
chosen = random.Random(55)
for number in range(int(sys.argv[1])):
    print(*make(chosen, number), sep='\t')
print('end', flush=True)
for line in sys.stdin:
    print('valid' if check(line.strip()) else 'not valid', flush=True)
";

/// Returns the number of random texts: `HASHLANE_TEST_RECOVER`, or that of a quick test.
fn n_random(quick: usize) -> usize {
    let n = std::env::var("HASHLANE_TEST_RECOVER").ok();
    n.map_or(quick, |n| {
        n.parse().expect("HASHLANE_TEST_RECOVER is a number")
    })
}

/// Finds texts that the functions `make` and `check` of a script, which uses this module, make, damage and judge. Each text must be
/// among those that `find` returns for the damaged one, and each of these must be valid.
pub(crate) fn every_text_is_found(
    name: &str,
    (module, package): (&str, &str),
    script: &str,
    quick: usize,
    find: impl Fn(&str) -> Vec<String>,
) {
    if !has_python_module(name, module, package) {
        return;
    }
    let n = n_random(quick);
    let mut judge = Command::new("python3");
    judge.args(["-c", &format!("{script}{RUN}"), &n.to_string()]);
    let mut judge = judge
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = judge.stdin.take().unwrap();
    let mut lines = BufReader::new(judge.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let made: Vec<String> = lines.by_ref().take_while(|line| line != "end").collect();
    assert_eq!(made.len(), n);
    let (mut n_hits, mut n_alone) = (0, 0);
    for line in &made {
        let (text, damaged) = line.split_once('\t').unwrap();
        let found = find(damaged);
        assert!(found.iter().any(|found| found == text), "{line}: {found:?}");
        n_alone += usize::from(found.len() == 1);
        for hit in &found {
            n_hits += 1;
            writeln!(input, "{hit}").unwrap();
            assert_eq!(lines.next().unwrap(), "valid", "{line}: {hit}");
        }
    }
    drop(input);
    assert!(judge.wait().unwrap().success());
    println!("{package}: {n} texts, {n_hits} hits, {n_alone} texts with one hit");
}
