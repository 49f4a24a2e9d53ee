//! Outcomes in the order of the items, compared with digests of single messages.

use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use hashlane_sums::{
    Algorithm, CancelToken, Digest, Error, Event, IoMode, Item, Options, Source, hash_items,
};

/// Hashes items and returns the outcome of each as text.
fn outcomes(items: Vec<Item<usize>>, stdin: &[u8], threads: usize) -> Vec<String> {
    let options = Options::default().threads(NonZeroUsize::new(threads));
    let mut texts = Vec::new();
    let n_items = items.len();
    let mut last_bytes = 0;
    let receive = |event: Event<'_, Item<usize>, Vec<Digest>>| {
        match event {
            Event::Outcome(item, outcome) => {
                assert_eq!(item.tag, texts.len(), "items come in order");
                texts.push(match outcome {
                    Ok((digests, len_bytes)) => format!("{len_bytes} {digests:?}"),
                    Err(failure) => failure.to_string(),
                });
            }
            Event::Pause {
                hashed_bytes,
                current,
            } => {
                let current = current.map_or(n_items, |item| item.tag);
                assert_eq!(current, texts.len(), "the first item without an outcome");
                assert!(hashed_bytes >= last_bytes);
                last_bytes = hashed_bytes;
            }
        }
        Ok::<_, Error>(())
    };
    let cancel = CancelToken::default();
    hash_items(items, &mut &*stdin, &options, &cancel, receive).expect("threads start");
    texts
}

fn item(tag: usize, source: Source, algorithms: &[Algorithm]) -> Item<usize> {
    Item::new(source, algorithms, tag)
}

fn file(folder: &Path, name: impl AsRef<Path>) -> Source {
    Source::File(folder.join(name))
}

#[test]
fn files_of_all_lengths_with_different_algorithms_come_in_order() {
    let folder = tempfile::tempdir().expect("the folder is created");
    let folder = folder.path();
    let n_files = 300;
    let contents: Vec<Vec<u8>> = (0..n_files)
        .map(|i| vec![i as u8; [0, 55, 4096, 16 << 10, 100_000, 400_000][i % 6] >> (i / 50)])
        .collect();
    for (i, content) in contents.iter().enumerate() {
        fs::write(folder.join(i.to_string()), content).expect("the file is written");
    }
    let algorithms = |i: usize| {
        let all = Algorithm::ALL;
        match i % 4 {
            0 => vec![Algorithm::Sha1],
            1 => vec![Algorithm::Sha256, Algorithm::Md5, Algorithm::Sha1],
            2 => vec![all[i % all.len()]],
            _ => vec![Algorithm::Crc32, Algorithm::Blake3],
        }
    };
    // The expected outcomes: each file as a single message, from the standard input stream.
    let expected: Vec<String> = (0..n_files)
        .map(|i| {
            outcomes(
                vec![item(0, Source::Stdin, &algorithms(i))],
                &contents[i],
                1,
            )
            .remove(0)
        })
        .collect();
    for threads in [1, 4] {
        let items = (0..n_files).map(|i| item(i, file(folder, i.to_string()), &algorithms(i)));
        assert_eq!(outcomes(items.collect(), b"", threads), expected);
    }
}

#[test]
fn items_without_files_keep_their_order() {
    let folder = tempfile::tempdir().expect("the folder is created");
    let folder = folder.path();
    fs::write(folder.join("a"), b"a").expect("the file is written");
    let crc32 = [Algorithm::Crc32];
    let sources = [
        Source::Nothing,
        file(folder, "a"),
        Source::Stdin,
        file(folder, "absent"),
        file(folder, "a/b"),
        Source::Stdin,
        file(folder, ""),
        Source::Nothing,
        file(folder, "a"),
    ];
    let items = sources.into_iter().enumerate();
    let items = items.map(|(i, source)| item(i, source, &crc32));
    let texts = outcomes(items.collect(), b"a", 2);
    let a = "1 [e8b7be43]";
    let absent = "No such file or directory (os error 2)";
    let inside = "Not a directory (os error 20)";
    let folder = "Is a directory (os error 21)";
    let expected = [
        "0 []",
        a,
        a,
        absent,
        inside,
        "0 [00000000]",
        folder,
        "0 []",
        a,
    ];
    assert_eq!(texts, expected);
}

#[test]
fn files_are_read_in_every_mode() {
    let folder = tempfile::tempdir().expect("the folder is created");
    let len_bytes = 1 << 20;
    fs::write(folder.path().join("a"), vec![7; len_bytes]).expect("the file is written");
    for io in [IoMode::Auto, IoMode::Mmap, IoMode::Pread] {
        for options in [
            Options::default(),
            Options::default().allow_signal_handler(),
        ] {
            let items = [item(0, file(folder.path(), "a"), &[Algorithm::Sha1])];
            let (cancel, mut found) = (CancelToken::default(), Vec::new());
            let run = hash_items(items, &mut io::empty(), &options.io(io), &cancel, |event| {
                if let Event::Outcome(_, Ok((digests, n_bytes))) = event {
                    found.push((digests, n_bytes));
                }
                Ok::<_, Error>(())
            });
            run.expect("files can be read");
            let expected = hashlane_sha::digest::<hashlane_sha::Sha1>(&vec![7; len_bytes]);
            assert_eq!(
                found,
                [(vec![Digest::new(expected)], len_bytes as u64)],
                "{io:?}"
            );
        }
    }
}

/// Returns items without a source, with the numbers from 0 as tags.
fn endless_items() -> impl Iterator<Item = Item<usize>> {
    (0..).map(|tag| item(tag, Source::Nothing, &[Algorithm::Sha1]))
}

#[test]
fn a_cancelled_run_ends() {
    let cancel = CancelToken::default();
    let mut n_outcomes = 0;
    let run = hash_items(
        endless_items(),
        &mut io::empty(),
        &Options::default(),
        &cancel,
        |event| {
            if let Event::Outcome(item, _) = event {
                n_outcomes = item.tag + 1;
                if n_outcomes == 100_000 {
                    cancel.cancel();
                }
            }
            Ok::<_, Error>(())
        },
    );
    run.expect("threads start");
    assert_eq!(n_outcomes, 100_000);
}

#[test]
fn the_first_error_of_the_receiver_ends_the_run() {
    let cancel = CancelToken::default();
    let mut n_events_after = None;
    let run = hash_items(
        endless_items(),
        &mut io::empty(),
        &Options::default(),
        &cancel,
        |event| {
            n_events_after = n_events_after.map(|n| n + 1);
            match event {
                Event::Outcome(item, _) if item.tag == 1000 => {
                    n_events_after = Some(0);
                    Err(io::Error::other("the output is full").into())
                }
                _ => Ok::<_, Box<dyn std::error::Error>>(()),
            }
        },
    );
    assert_eq!(run.expect_err("an error").to_string(), "the output is full");
    assert_eq!(n_events_after, Some(0));
    assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
}

/// The threads of the run end, and the panic reaches the caller.
#[test]
fn a_panic_of_the_receiver_ends_the_run() {
    let cancel = CancelToken::default();
    let run = || {
        hash_items(
            endless_items(),
            &mut io::empty(),
            &Options::default(),
            &cancel,
            |_| -> Result<(), Error> { panic!("as a test") },
        )
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"as a test"));
    assert!(!cancel.is_cancelled(), "the caller's token is unchanged");
}
