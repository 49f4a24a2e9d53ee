//! Lists of digests, well formed and damaged.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::NAMES;

/// A generator of numbers that are the same in each run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        // Knuth's MMIX generator. Its high bits are the most random.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Bytes with a meaning in lists.
const SPECIAL: &[u8] = b" \t\\()=*\0\r#-0aZ\xff";

/// Returns a list for a program whose lines are `lines`: one line for each of [`NAMES`], in some form.
pub(super) fn list(random: &mut Random, tag: &str, digests: &[String]) -> Vec<u8> {
    let n_lines = 1 + random.below(6);
    (0..n_lines)
        .flat_map(|_| line(random, tag, digests))
        .collect()
}

fn line(random: &mut Random, tag: &str, digests: &[String]) -> Vec<u8> {
    let i = random.below(NAMES.len() + 4);
    let others: [&[u8]; 4] = [b"nope", b"dir", b"", b"-"];
    let mut name = NAMES
        .get(i)
        .copied()
        .unwrap_or_else(|| others[i - NAMES.len()])
        .to_vec();
    let mut digest = digests[i % digests.len()].clone();
    if random.one_in(8) {
        digest = digest.to_uppercase();
    }
    if random.one_in(8) {
        digest.pop();
        digest.push('0');
    }
    let mut line = Vec::new();
    if name.iter().any(|c| b"\\\n\r".contains(c)) && !random.one_in(8) {
        line.push(b'\\');
        let text = name.iter().flat_map(|c| match c {
            b'\\' => b"\\\\".to_vec(),
            b'\n' => b"\\n".to_vec(),
            b'\r' => b"\\r".to_vec(),
            c => vec![*c],
        });
        name = text.collect();
    }
    let digest = digest.as_bytes();
    match random.below(10) {
        0..5 => {
            let between: &[u8] = random.pick(&[&b"  "[..], b" *", b"  ", b" ", b"\t"]);
            line.extend([digest, between, &name].concat());
        }
        5..9 => {
            let before: &[u8] = random.pick(&[&b" ("[..], b"(", b"  (", b"* ("]);
            let after: &[u8] = random.pick(&[&b") = "[..], b")= ", b")=", b")\t=\t"]);
            line.extend([tag.as_bytes(), before, &name, after, digest].concat());
        }
        _ => {
            let mut other = String::new();
            let length = random.pick(&["-7", "-0", "-8", "-010", "-0x8", "-", "- 8", "-520", "x"]);
            let _ = write!(other, "{tag}{length} (a) = 00");
            line = match random.below(8) {
                0 => other.into_bytes(),
                1 => [digest, b" "].concat(),
                2 => digest.to_vec(),
                3 => b"# comment".to_vec(),
                4 => b"\\".to_vec(),
                5 => tag.as_bytes().to_vec(),
                6 => [b"\\\\", digest, b"  a"].concat(),
                _ => Vec::new(),
            };
        }
    }
    if random.one_in(10) {
        line.splice(
            0..0,
            random
                .pick(&[&b" "[..], b"\t", b"\x0b", b"\xef\xbb\xbf"])
                .to_vec(),
        );
    }
    while random.one_in(6) && !line.is_empty() {
        let at = random.below(line.len());
        let n_removed = random.below(2);
        line.splice(at..at + n_removed, [random.pick(SPECIAL)]);
    }
    line.extend(random.pick(&[&b"\n"[..], b"\n", b"\n", b"\r\n", b" \n", b""]));
    line
}

/// Reads the digests of [`NAMES`] from the output of a program.
pub(super) fn digests(folder: &Path, program: &Path, name: &str) -> Vec<String> {
    let all = NAMES.iter().map(|file| {
        let path = folder.join(std::ffi::OsStr::from_bytes(file));
        let bytes = fs::read(path).unwrap();
        let ended = super::run(program, name, &[], folder, &bytes);
        let text = String::from_utf8(ended.both).unwrap();
        text.split(' ').next().unwrap().to_owned()
    });
    all.collect()
}
