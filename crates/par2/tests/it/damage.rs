//! Random damage.

use std::fs;

use hashlane_par2::{Error, NewSet, Redundancy, Slices};

use crate::place::Folder;
use crate::random::Random;

/// Random sets and damages: what can be repaired is repaired byte for byte, and what cannot is left alone.
#[test]
fn random_damage_is_repaired_or_reported() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let names = ["a", "b b", "c/d", "c/ü", "ε"];
        let n_files = 1 + random.below(5);
        let files = names[..n_files].iter().map(|name| {
            let len = 1 + random.below(6000);
            (*name, random.bytes(len))
        });
        let folder = Folder::new(files.collect());
        let mut new = NewSet::new("test");
        new.slices = Slices::Len(4 * (1 + random.below(300)) as u64);
        new.redundancy = Redundancy::Count(random.below(20));
        folder.create(&new);
        damage(&folder, &mut random);
        let before: Vec<_> = folder
            .files
            .iter()
            .map(|(name, _)| fs::read(folder.path(name)).ok())
            .collect();
        let found = folder.verify(&[]);
        match folder.repair(&[]) {
            Ok(_) => {
                folder.check();
                assert!(folder.verify(&[]).is_intact(), "{seed}");
            }
            Err(Error::NotEnough { missing, available }) => {
                assert!(missing == found.n_missing && available < missing, "{seed}");
                let after: Vec<_> = folder
                    .files
                    .iter()
                    .map(|(name, _)| fs::read(folder.path(name)).ok())
                    .collect();
                assert!(before == after, "{seed}");
            }
            Err(error) => panic!("{seed}: {error}"),
        }
    }
}

/// Changes, shortens, lengthens and removes some of the files with content.
pub(crate) fn damage(folder: &Folder, random: &mut Random) {
    let files = folder.files.iter().filter(|(_, bytes)| !bytes.is_empty());
    let names: Vec<&str> = files.map(|(name, _)| name.to_str().unwrap()).collect();
    for _ in 0..=random.below(4) {
        let name = names[random.below(names.len())];
        let at = random.next() as usize;
        let len = random.below(300);
        let noise = random.bytes(len);
        if !folder.path(name).exists() {
            continue;
        }
        match random.below(6) {
            0 => folder.remove(name),
            1 => folder.change(name, |bytes| bytes.truncate(at % bytes.len().max(1))),
            2 => folder.change(name, |bytes| {
                let at = at % bytes.len().max(1);
                bytes.splice(at..at, noise);
            }),
            3 => folder.change(name, |bytes| {
                let at = at % bytes.len().max(1);
                bytes.drain(at..bytes.len().min(at + len));
            }),
            _ => folder.change(name, |bytes| {
                let at = at % bytes.len().max(1);
                let end = bytes.len().min(at + len);
                bytes[at..end].copy_from_slice(&noise[..end - at]);
            }),
        }
    }
}
