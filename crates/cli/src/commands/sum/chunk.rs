//! Digests of all chunks of files.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use hashlane_sums::{Algorithm, Options};
use hashlane_trees::{ChunkList, Chunks};

use super::arguments::Sum;
use super::filter::Filter;
use super::json::Line;
use super::output::Output;
use super::printer::Printer;
use crate::output::json_lines::{self, PathText};
use crate::output::text::Escaped;
use crate::{Env, Exit};

/// Prints the digests of the chunks of all operands.
pub(super) fn run(
    sum: &Sum,
    chunk_len: u64,
    env: &mut Env,
    options: &Options,
    filter: &Filter,
) -> anyhow::Result<Exit> {
    let function = match sum.digest_algorithms()[..] {
        [] => Algorithm::Sha256,
        [function] if function.has_hmac() => function,
        _ => anyhow::bail!(
            "--chunk: name one of md5, sha1, sha224, sha256, sha384 and sha512 with -a"
        ),
    };
    let Some(format) = Chunks::new(function, chunk_len) else {
        anyhow::bail!("--chunk: a chunk of 0 bytes: use 1 or more");
    };
    let print = |output: &mut Output<'_>, name: &[u8], _, chunks: &ChunkList| {
        print(sum, output, name, function, chunks)
    };
    Printer { sum, filter }.run(env, &format, options, print)
}

fn print(
    sum: &Sum,
    output: &mut Output<'_>,
    name: &[u8],
    function: Algorithm,
    chunks: &ChunkList,
) -> anyhow::Result<()> {
    let text = String::from_utf8_lossy(name);
    for (offset, length, digest) in chunks.iter() {
        let digest = HEXLOWER.encode(digest);
        if sum.printing.is_json() {
            let line = Line::Chunk {
                path: PathText::of_bytes(name),
                offset,
                length,
                digests: BTreeMap::from([(function.name(), digest)]),
            };
            json_lines::print(output.env, &line)?;
        } else {
            let name = Escaped(&text);
            writeln!(output.env.stdout, "{digest} {offset} {length} {name}")?;
        }
    }
    Ok(())
}
