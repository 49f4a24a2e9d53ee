//! Creates a set.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use hashlane_files::{AtomicFile, Overwrite, SourceFile, Stamp, place_of, write_all_at};
use hashlane_hashes::Hasher;
use hashlane_sha::Md5 as Lane;

use crate::error::Error;
use crate::gf;
use crate::name;
use crate::packet::{
    EXPONENT_LEN, FileId, HEADER_LEN, Md5, Packet, SetId, Sha256, SliceChecksum, digest, md5,
    md5_hasher, recovery_hasher, recovery_header,
};
use crate::plan::{self, Redundancy, Slices, Volume, Volumes};
use crate::run::{Progress, Run};
use crate::set::base_of;
use crate::source::{Checksums, Reader, Source, digest_of, finish, update};
use crate::space::check_space;
use crate::sums::{BATCH, Planes, Sums};

/// The options of a new set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewSet {
    /// How files are cut.
    pub slices: Slices,
    /// The amount of recovery data.
    pub redundancy: Redundancy,
    /// How recovery slices are distributed over files.
    pub volumes: Volumes,
    /// Number of recovery files, if it is not the usual one.
    pub n_volumes: Option<usize>,
    /// The first exponent: more than 0 adds recovery slices to those of an earlier set of the same files.
    pub first_exponent: usize,
    /// The name of the program, for the creator packet.
    pub creator: String,
    /// A comment.
    pub comment: Option<String>,
    /// Number of copies of the packets without recovery slices in each file with recovery slices. If it is not given, a file with
    /// twice as many slices has one copy more, as of par2cmdline.
    pub n_copies: Option<usize>,
    /// SHA-256 digests of files, which are recorded in the set and not compared. Other programs ignore them.
    pub sha256: HashMap<PathBuf, Sha256>,
}

impl NewSet {
    /// Returns the usual options: up to 2000 slices, and 5 % of recovery data in files that double.
    pub fn new(creator: &str) -> Self {
        Self {
            slices: Slices::Count(2000),
            redundancy: Redundancy::Percent(5.0),
            volumes: Volumes::Doubling,
            n_volumes: None,
            first_exponent: 0,
            creator: creator.to_owned(),
            comment: None,
            n_copies: None,
            sha256: HashMap::new(),
        }
    }
}

/// A new set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Created {
    /// The identity.
    pub id: SetId,
    /// Length of a slice in bytes.
    pub slice_len: u64,
    /// Number of slices of all files.
    pub n_slices: usize,
    /// Number of recovery slices.
    pub n_recovery: usize,
    /// Number of protected files.
    pub n_files: usize,
    /// Length of all protected files in bytes.
    pub n_bytes: u64,
    /// The files that were made.
    pub written: Vec<PathBuf>,
    /// Number of times that the protected files were read: more than one if memory is short.
    pub n_passes: usize,
    /// Empty files, which have no slices. PAR2 programs leave them out.
    pub left_out: Vec<PathBuf>,
}

/// Number of bytes of a file whose digest is part of the file's identity.
pub(crate) const START_LEN: usize = 16 << 10;

/// A file to protect.
struct Input {
    path: PathBuf,
    name: Vec<u8>,
    len: u64,
    stamp: Stamp,
    md5_16k: Md5,
    id: FileId,
    sha256: Option<Sha256>,
}

impl Input {
    fn open(folder: &Path, relative: &Path, sha256: Option<Sha256>) -> Result<Self, Error> {
        let path = folder.join(relative);
        let name = name::from_path(relative).ok_or_else(|| Error::File {
            path: path.clone(),
            reason: "the path leads out of the folder of the set, or is too long",
        })?;
        let file = SourceFile::open(&path).map_err(Error::io(&path))?;
        let len = file.len_bytes();
        let stamp = file.stamp().map_err(Error::io(&path))?;
        let mut start = vec![0; len.min(START_LEN as u64) as usize];
        file.read_exact_at(&mut start, 0).map_err(changed(&path))?;
        let md5_16k = md5(&[&start]);
        let id = FileId::of(&md5_16k, len, &name);
        Ok(Self {
            path,
            name,
            len,
            stamp,
            md5_16k,
            id,
            sha256,
        })
    }
}

/// A file that ends early has become shorter.
fn changed(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::Changed(path),
        _ => Error::io(&path)(error),
    }
}

/// Creates a set. `place` is the path of the file without recovery slices, such as `name.par2`. `files` are the paths of the
/// protected files, relative to `folder`, which is where the recovery files are meant to be used.
///
/// No file is replaced. A set that fails leaves no file.
///
/// # Errors
/// The options contradict each other, a file cannot be read or written, or was changed meanwhile.
pub fn create(
    folder: &Path,
    place: &Path,
    files: &[PathBuf],
    new: &NewSet,
    run: &mut Run<'_>,
) -> Result<Created, Error> {
    let (inputs, left_out) = open_inputs(folder, files, new, run)?;
    let lens: Vec<u64> = inputs.iter().map(|input| input.len).collect();
    let slice_len = plan::slice_len(new.slices, &lens)?;
    let n_slices = plan::n_slices(&lens, slice_len) as usize;
    let first = new.first_exponent;
    let n_recovery = plan::n_recovery(new.redundancy, n_slices, slice_len, first)?;
    let longest = lens.iter().max().map_or(0, |len| len.div_ceil(slice_len));
    let longest = longest as usize;
    let volumes = plan::volumes(new.volumes, new.n_volumes, n_recovery, first, longest)?;
    let main = Packet::Main {
        slice_len,
        files: inputs.iter().map(|input| input.id).collect(),
        other_files: Vec::new(),
    };
    let id = main.set_id();
    let paths = paths_of(place, &volumes);
    // The packets around the slices are few, unless slices are very short.
    let needed = (n_recovery as u64).saturating_mul(slice_len.saturating_add(68));
    check_space([(place, needed)])?;
    let outputs = paths
        .iter()
        .map(|path| Output::create(path))
        .collect::<Result<Vec<_>, _>>()?;
    let mut work = Work::new(&inputs, id, slice_len, first..first + n_recovery)?;
    let layout = Layout::new(&volumes, &inputs, &main, new, id, slice_len);
    let n_passes = work.run(run, |recovery, column, bytes| {
        let (volume, offset) = layout.recovery[recovery];
        let offset = offset + (HEADER_LEN + EXPONENT_LEN) as u64 + column as u64;
        write_all_at(outputs[volume].file.as_file(), bytes, offset)
            .map_err(Error::io(&paths[volume]))
    })?;
    check_unchanged(&inputs)?;
    let digests = work.recovery_digests();
    let critical = work.critical_packets(main, new, id);
    layout.write(&outputs, &critical, &digests, id, slice_len)?;
    put_all(outputs, &paths)?;
    Ok(Created {
        id,
        slice_len,
        n_slices,
        n_recovery,
        n_files: inputs.len(),
        n_bytes: lens.iter().sum(),
        written: paths,
        n_passes,
        left_out,
    })
}

/// Opens the files in the order of the set. Returns empty files separately.
fn open_inputs(
    folder: &Path,
    files: &[PathBuf],
    new: &NewSet,
    run: &Run<'_>,
) -> Result<(Vec<Input>, Vec<PathBuf>), Error> {
    let mut inputs = Vec::new();
    let mut left_out = Vec::new();
    for relative in files {
        run.check()?;
        let input = Input::open(folder, relative, new.sha256.get(relative).copied())?;
        if input.len == 0 {
            left_out.push(relative.clone());
        } else {
            inputs.push(input);
        }
    }
    inputs.sort_by_key(|input| input.id);
    if let Some(twice) = inputs.windows(2).find(|pair| pair[0].id == pair[1].id) {
        let path = twice[0].path.clone();
        return Err(Error::File {
            path,
            reason: "is given twice",
        });
    }
    if inputs.is_empty() {
        return Err(Error::Options(
            "there is no file with content to protect".into(),
        ));
    }
    Ok((inputs, left_out))
}

/// Fails if a file was written to since it was opened.
fn check_unchanged(inputs: &[Input]) -> Result<(), Error> {
    for input in inputs {
        let now = SourceFile::open(&input.path).and_then(|file| file.stamp());
        if now.map_err(Error::io(&input.path))? != input.stamp {
            return Err(Error::Changed(input.path.clone()));
        }
    }
    Ok(())
}

/// Gives the recovery files their names, the first one last: a set with this file is complete. If one cannot have its name,
/// none has.
fn put_all(outputs: Vec<Output>, paths: &[PathBuf]) -> Result<(), Error> {
    for (number, output) in outputs.into_iter().enumerate().rev() {
        if let Err(error) = output.put() {
            for written in &paths[number + 1..] {
                // The error above is the reason.
                let _ = std::fs::remove_file(written);
            }
            return Err(error);
        }
    }
    Ok(())
}

/// Returns the paths of the recovery files. The first one has no recovery slices.
fn paths_of(place: &Path, volumes: &[Volume]) -> Vec<PathBuf> {
    let digits = |number: usize| number.to_string().len();
    let first = digits(volumes.iter().map(|volume| volume.first).max().unwrap_or(0));
    let count = digits(volumes.iter().map(|volume| volume.count).max().unwrap_or(0));
    let base = base_of(place);
    let mut paths = vec![place.to_owned()];
    for volume in volumes {
        let mut name = base.clone();
        name.push(format!(
            ".vol{:0first$}+{:0count$}.par2",
            volume.first, volume.count
        ));
        paths.push(place.with_file_name(name));
    }
    paths
}

/// A recovery file that has no name yet.
struct Output {
    file: AtomicFile,
    place: PathBuf,
}

impl Output {
    fn create(path: &Path) -> Result<Self, Error> {
        let place = place_of(path).map_err(Error::io(path))?;
        if place.symlink_metadata().is_ok() {
            return Err(Error::Io {
                path: path.to_owned(),
                error: io::ErrorKind::AlreadyExists.into(),
            });
        }
        let file = AtomicFile::beside(&place, 0o666).map_err(Error::io(path))?;
        Ok(Self { file, place })
    }

    fn put(self) -> Result<(), Error> {
        self.file
            .put(&self.place, Overwrite::No)
            .map_err(Error::io(&self.place))
    }
}

/// A slice of a file.
#[derive(Clone, Copy)]
struct Slice {
    file: usize,
    offset: u64,
    /// Length without the zeros after the end of the file.
    data_len: u64,
}

fn slices_of(lens: &[u64], slice_len: u64) -> Vec<Slice> {
    let of_file = |(file, len): (usize, &u64)| {
        let len = *len;
        (0..len.div_ceil(slice_len)).map(move |slice| {
            let offset = slice * slice_len;
            Slice {
                file,
                offset,
                data_len: slice_len.min(len - offset),
            }
        })
    };
    lens.iter().enumerate().flat_map(of_file).collect()
}

/// Columns of slices that are read at once.
#[derive(Clone, Copy)]
struct Step {
    first: usize,
    count: usize,
    column: usize,
    len: usize,
    /// Whether the columns are added in this pass.
    is_added: bool,
    /// Whether the columns are hashed, because no pass before has read them.
    is_hashed: bool,
}

/// The digests of files and slices.
#[derive(Default)]
struct Hashed {
    files: Vec<Md5>,
    slices: Vec<SliceChecksum>,
}

struct Work<'w> {
    sources: Vec<Source>,
    slices: Vec<Slice>,
    inputs: &'w [Input],
    slice_len: usize,
    logs: Vec<u16>,
    exponents: Vec<u16>,
    /// The hashers of the recovery packets.
    hashers: Vec<Lane>,
    found: Hashed,
    progress: Progress,
}

/// Least number of bytes of a slice that are read at once, if the slice is longer.
const MIN_WINDOW: usize = 64 << 10;

/// Maximum number of bytes of a slice that are read at once.
const MAX_WINDOW: usize = 4 << 20;

impl<'w> Work<'w> {
    fn new(
        inputs: &'w [Input],
        set: SetId,
        slice_len: u64,
        exponents: std::ops::Range<usize>,
    ) -> Result<Self, Error> {
        let lens: Vec<u64> = inputs.iter().map(|input| input.len).collect();
        let slices = slices_of(&lens, slice_len);
        let sources = inputs
            .iter()
            .map(|input| Source::file(&input.path).map_err(Error::io(&input.path)));
        let hashers = exponents.clone();
        let hashers = hashers.map(|exponent| recovery_hasher(set, exponent as u32));
        Ok(Self {
            sources: sources.collect::<Result<_, _>>()?,
            logs: gf::slice_logs(slices.len()),
            slices,
            inputs,
            slice_len: usize::try_from(slice_len)
                .map_err(|_| Error::Options("slices are too long".into()))?,
            exponents: exponents.map(|exponent| exponent as u16).collect(),
            hashers: hashers.collect(),
            found: Hashed::default(),
            progress: Progress::default(),
        })
    }

    /// Reads the files, hashes them, and passes the recovery slices to `write`, in columns. Returns the number of passes.
    fn run(
        &mut self,
        run: &mut Run<'_>,
        mut write: impl FnMut(usize, usize, &[u8]) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        let memory = usize::try_from(run.memory).unwrap_or(usize::MAX);
        // Buffers and planes of two batches take a quarter of the memory.
        let window = (memory / (16 * BATCH)).clamp(MIN_WINDOW, MAX_WINDOW) & !(MIN_WINDOW - 1);
        let window = window.min(self.slice_len);
        let columns = columns_per_pass(memory, self.exponents.len(), self.slice_len, window);
        let n_passes = self.slice_len.div_ceil(columns);
        let n_bytes: u64 = self.inputs.iter().map(|input| input.len).sum();
        self.progress.total_bytes = n_bytes
            .saturating_mul(2)
            .saturating_sub(n_bytes / n_passes as u64);
        // A window of whole slices has all bytes of files in order. Otherwise, the digests of files need a reading of their own.
        let is_whole = window == self.slice_len;
        let inputs = self.inputs;
        let cancel = run.cancel;
        thread::scope(|scope| {
            let files = (!is_whole).then(|| {
                let sources = self.sources.clone();
                scope.spawn(move || {
                    let files = sources.iter().zip(inputs);
                    let digests = files.map(|(source, input)| {
                        digest_of(source, cancel).map_err(changed(&input.path))
                    });
                    digests.collect::<Result<Vec<_>, _>>()
                })
            });
            for first_column in (0..self.slice_len).step_by(columns) {
                let added = first_column..self.slice_len.min(first_column + columns);
                let sums = self.pass(run, added.clone(), window)?;
                self.write(&sums, added, &mut write)?;
            }
            if let Some(files) = files {
                self.found.files = files
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            }
            Ok(n_passes)
        })
    }

    /// Computes columns of the recovery slices.
    fn pass(
        &mut self,
        run: &mut Run<'_>,
        added: std::ops::Range<usize>,
        window: usize,
    ) -> Result<Sums, Error> {
        let mut sums = Sums::zero(run.kernel, run.n_threads, self.exponents.len(), added.len());
        let is_first = added.start == 0;
        let mut steps = Vec::new();
        for first in (0..self.slices.len()).step_by(BATCH) {
            let count = BATCH.min(self.slices.len() - first);
            let read = if is_first {
                0..self.slice_len
            } else {
                added.clone()
            };
            for column in read.clone().step_by(window) {
                let len = window.min(read.end - column);
                let is_added = added.contains(&column);
                steps.push(Step {
                    first,
                    count,
                    column,
                    len,
                    is_added,
                    is_hashed: is_first,
                });
            }
        }
        let mut hashing = Hashing::default();
        let (mut ready, mut next) = (Planes::default(), Planes::default());
        let mut pending: Option<Step> = None;
        let (logs, exponents) = (self.logs.clone(), self.exponents.clone());
        let factor_of = |step: Step| {
            let (logs, exponents) = (&logs, &exponents);
            move |sum: usize, slice: usize| gf::factor(logs[step.first + slice], exponents[sum])
        };
        for step in steps {
            run.check()?;
            let mut read = || self.read(step, &mut hashing, &mut next);
            match pending.filter(|pending| pending.is_added) {
                Some(pending) => {
                    sums.add(
                        pending.column - added.start,
                        &ready,
                        factor_of(pending),
                        read,
                    )?;
                }
                None => read()?,
            }
            std::mem::swap(&mut ready, &mut next);
            pending = Some(step);
            (run.progress)(self.progress);
        }
        if let Some(pending) = pending.filter(|pending| pending.is_added) {
            sums.add(
                pending.column - added.start,
                &ready,
                factor_of(pending),
                || (),
            );
        }
        Ok(sums)
    }

    /// Reads columns of slices, hashes them, and splits them into planes.
    fn read(
        &mut self,
        step: Step,
        hashing: &mut Hashing,
        planes: &mut Planes,
    ) -> Result<(), Error> {
        let slices = &self.slices[step.first..step.first + step.count];
        planes.resize(step.count, step.len);
        hashing.buffers.resize_with(BATCH, Vec::new);
        for (i, (slice, buffer)) in slices.iter().zip(&mut hashing.buffers).enumerate() {
            buffer.resize(step.len, 0);
            let left = slice.data_len.saturating_sub(step.column as u64);
            let (data, zeros) = buffer.split_at_mut(left.min(step.len as u64) as usize);
            let offset = slice.offset + step.column as u64;
            let read = hashing.reader.read(&self.sources, slice.file, data, offset);
            read.map_err(changed(&self.inputs[slice.file].path))?;
            self.progress.done_bytes += data.len() as u64;
            zeros.fill(0);
            if step.is_added {
                planes.set(i, buffer);
            }
        }
        if !step.is_hashed {
            return Ok(());
        }
        if step.column == 0 {
            hashing.checksums = Checksums::of(step.count);
        }
        let buffers = &hashing.buffers[..step.count];
        hashing.checksums.update(buffers);
        if step.column + step.len == self.slice_len {
            let checksums = std::mem::take(&mut hashing.checksums);
            self.found.slices.extend(checksums.finish());
        }
        if step.len == self.slice_len {
            for (slice, buffer) in slices.iter().zip(buffers) {
                let hasher = hashing.file.get_or_insert_with(md5_hasher);
                hasher.update(&buffer[..slice.data_len as usize]);
                let is_last = slice.offset + slice.data_len == self.inputs[slice.file].len;
                if is_last && let Some(hasher) = hashing.file.take() {
                    self.found.files.push(digest(hasher));
                }
            }
        }
        Ok(())
    }

    /// Writes columns of the recovery slices, and hashes them.
    fn write(
        &mut self,
        sums: &Sums,
        columns: std::ops::Range<usize>,
        write: &mut impl FnMut(usize, usize, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut buffers = vec![Vec::new(); BATCH];
        for first in (0..self.exponents.len()).step_by(BATCH) {
            let count = BATCH.min(self.exponents.len() - first);
            // A part of the columns at a time: slices can be long.
            for start in columns.clone().step_by(MAX_WINDOW) {
                let part = start..columns.end.min(start + MAX_WINDOW);
                for (i, buffer) in buffers[..count].iter_mut().enumerate() {
                    buffer.resize(part.len(), 0);
                    sums.read_from(first + i, part.start - columns.start, buffer);
                    write(first + i, part.start, buffer)?;
                }
                update(&mut self.hashers[first..first + count], &buffers[..count]);
            }
        }
        Ok(())
    }

    fn recovery_digests(&mut self) -> Vec<Md5> {
        finish(&mut self.hashers)
    }

    /// Returns the packets that every recovery file has, in the order in which [`Layout`] counts their lengths.
    fn critical_packets(&self, main: Packet, new: &NewSet, set: SetId) -> Vec<Vec<u8>> {
        let mut first = 0;
        let mut packets = vec![main];
        for (input, md5) in self.inputs.iter().zip(&self.found.files) {
            let n_slices = input.len.div_ceil(self.slice_len as u64) as usize;
            let checksums = self.found.slices[first..first + n_slices].to_vec();
            first += n_slices;
            packets.extend(packets_of(input, *md5, checksums));
        }
        packets.extend(comments(new));
        packets.iter().map(|packet| packet.write(set)).collect()
    }
}

/// Returns the number of columns whose sums fit three quarters of the memory: a multiple of the window.
fn columns_per_pass(memory: usize, n_sums: usize, slice_len: usize, window: usize) -> usize {
    if n_sums == 0 || Sums::memory(n_sums, slice_len) <= (memory / 4 * 3) as u64 {
        return slice_len;
    }
    let columns = memory / 4 * 3 / n_sums / window * window;
    columns.clamp(window, slice_len)
}

/// Returns the packets of a file.
fn packets_of(input: &Input, md5: Md5, checksums: Vec<SliceChecksum>) -> Vec<Packet> {
    let name = &input.name;
    let mut packets = vec![
        Packet::File {
            id: input.id,
            md5,
            md5_16k: input.md5_16k,
            len: input.len,
            name: name.clone(),
        },
        Packet::Slices {
            file: input.id,
            checksums,
        },
    ];
    if let Some(name) = std::str::from_utf8(name)
        .ok()
        .filter(|name| !name.is_ascii())
    {
        packets.push(Packet::UnicodeName {
            file: input.id,
            name: name.to_owned(),
        });
    }
    if let Some(sha256) = input.sha256 {
        packets.push(Packet::Sha256 {
            file: input.id,
            sha256,
        });
    }
    packets
}

fn comments(new: &NewSet) -> Vec<Packet> {
    let Some(comment) = &new.comment else {
        return Vec::new();
    };
    if comment.is_ascii() {
        return vec![Packet::Comment(comment.clone().into_bytes())];
    }
    vec![Packet::UnicodeComment {
        of: [0; 16],
        text: comment.clone(),
    }]
}

/// The state of hashing between two steps.
#[derive(Default)]
struct Hashing {
    reader: Reader,
    buffers: Vec<Vec<u8>>,
    checksums: Checksums,
    file: Option<Hasher>,
}

/// The places of packets in the recovery files.
struct Layout {
    /// The file and the offset of each recovery packet.
    recovery: Vec<(usize, u64)>,
    /// The files, offsets and numbers of the other packets.
    critical: Vec<(usize, u64, usize)>,
    creators: Vec<(usize, u64)>,
    creator: Vec<u8>,
    first_exponent: u32,
}

impl Layout {
    fn new(
        volumes: &[Volume],
        inputs: &[Input],
        main: &Packet,
        new: &NewSet,
        set: SetId,
        slice_len: u64,
    ) -> Self {
        let blank = |input: &Input| {
            let n_slices = input.len.div_ceil(slice_len) as usize;
            packets_of(
                input,
                [0; 16],
                vec![
                    SliceChecksum {
                        md5: [0; 16],
                        crc32: 0
                    };
                    n_slices
                ],
            )
        };
        let mut lens = vec![main.write(set).len() as u64];
        for input in inputs {
            lens.extend(
                blank(input)
                    .iter()
                    .map(|packet| packet.write(set).len() as u64),
            );
        }
        lens.extend(
            comments(new)
                .iter()
                .map(|packet| packet.write(set).len() as u64),
        );
        let creator = Packet::Creator(new.creator.clone().into_bytes()).write(set);
        let mut layout = Self {
            recovery: Vec::new(),
            critical: Vec::new(),
            creators: Vec::new(),
            creator,
            first_exponent: new.first_exponent as u32,
        };
        let recovery_len = (HEADER_LEN + EXPONENT_LEN) as u64 + slice_len;
        let none = Volume { first: 0, count: 0 };
        for (file, volume) in std::iter::once(&none).chain(volumes).enumerate() {
            let mut offset = 0;
            // As par2cmdline: a file with twice as many slices has one copy more, and copies lie between the slices.
            let copies = match volume.count {
                0 => 1,
                count => {
                    let usual = (usize::BITS - count.leading_zeros()) as usize;
                    new.n_copies.unwrap_or(usual)
                }
            };
            let n_critical = copies * lens.len();
            let mut written = 0;
            for i in 0..volume.count.max(1) {
                if volume.count > 0 {
                    layout.recovery.push((file, offset));
                    offset += recovery_len;
                }
                while written < (i + 1) * n_critical / volume.count.max(1) {
                    let number = written % lens.len();
                    layout.critical.push((file, offset, number));
                    offset += lens[number];
                    written += 1;
                }
            }
            layout.creators.push((file, offset));
        }
        layout
    }

    fn write(
        &self,
        outputs: &[Output],
        critical: &[Vec<u8>],
        digests: &[Md5],
        set: SetId,
        slice_len: u64,
    ) -> Result<(), Error> {
        let write = |file: usize, bytes: &[u8], offset: u64| {
            let output: &File = outputs[file].file.as_file();
            write_all_at(output, bytes, offset).map_err(Error::io(&outputs[file].place))
        };
        for (file, offset, number) in &self.critical {
            write(*file, &critical[*number], *offset)?;
        }
        for (file, offset) in &self.creators {
            write(*file, &self.creator, *offset)?;
        }
        let exponents = self.first_exponent..;
        for (((file, offset), digest), exponent) in self.recovery.iter().zip(digests).zip(exponents)
        {
            write(
                *file,
                &recovery_header(set, exponent, *digest, slice_len),
                *offset,
            )?;
        }
        Ok(())
    }
}
