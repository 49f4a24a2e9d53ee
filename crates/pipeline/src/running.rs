//! The running messages of one thread. Reads a window of each message and hashes all windows at
//! once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hashlane_files::ByteStream;
use hashlane_sha::MAX_LANES;

use crate::CancelToken;
use crate::hasher::MessageHasher;
use crate::messages::{FileIndex, Messages};
use crate::open_files::{FileSet, OpenFiles};
use crate::read_speed::{Load, ReadSpeed};
use crate::reader::{Reader, Refusal, Window};
use crate::reading::Reading;
use crate::results::Reporter;
use crate::schedule::{Batch, MAX_BATCH_MESSAGES, Schedule, WINDOW_UNIT};

/// State that all workers share, read-only except where a field says otherwise.
#[derive(Debug)]
pub(crate) struct Shared<'a, M> {
    pub(crate) messages: &'a M,
    pub(crate) files: &'a dyn FileSet,
    /// Written once for each run of messages.
    pub(crate) schedule: Schedule,
    /// Whether messages may be mapped.
    pub(crate) use_maps: bool,
    /// Number of bytes to read at a time past the page cache; `None` if messages are read through it.
    pub(crate) direct_len: Option<usize>,
    /// Knowledge about the disk before anything is read.
    pub(crate) speed: ReadSpeed,
    /// One of them is locked while a batch is read from a rotational disk, so that few workers at a time move the heads of
    /// the disk. There is at least one.
    pub(crate) disk_turns: Vec<Mutex<()>>,
    /// The file that each worker reads.
    pub(crate) readings: Vec<Reading>,
    /// Number of streams that a worker may have open.
    pub(crate) max_streams: usize,
    /// Number of messages that a worker may process at the same time.
    pub(crate) max_busy: usize,
    pub(crate) cancel: &'a CancelToken,
}

/// The tools that a worker uses for both mapped and buffered messages.
#[derive(Debug)]
pub(crate) struct Tools<'a, M, D> {
    pub(crate) shared: &'a Shared<'a, M>,
    /// The turn that the worker takes when it reads from a rotational disk.
    pub(crate) disk_turn: &'a Mutex<()>,
    /// The turn while the worker has it.
    pub(crate) turn: Option<MutexGuard<'a, ()>>,
    pub(crate) files: OpenFiles<'a>,
    pub(crate) speed: ReadSpeed,
    pub(crate) reporter: Reporter<'a, D>,
}

impl<M, D> Tools<'_, M, D> {
    /// Waits until the worker may read from the rotational disk.
    pub(crate) fn take_turn(&mut self) {
        if self.turn.is_none() {
            self.files.reading().stop();
            let lock = self.disk_turn.lock();
            self.turn = Some(lock.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Sends the results since the last call. The facts about a file arrive with or before the outcomes of its messages, so
    /// that the last outcome of a torrent completes its report.
    pub(crate) fn send(&mut self) {
        let facts = self.files.take_facts();
        self.reporter.facts(facts);
        // The receiver may be busy.
        self.files.reading().stop();
        self.reporter.send();
    }
}

/// The source of the bytes of a message.
#[derive(Debug)]
pub(crate) enum Input {
    /// Bytes from the extents of the message, which can be read again.
    Extents {
        len_bytes: u64,
        /// Whether all extents are in one file that is large enough to map.
        is_mappable: bool,
    },
    /// All bytes of a file until its end, which can be read only once.
    Stream(FileIndex, ByteStream),
}

impl Input {
    /// Returns `true` if the bytes may be mapped.
    pub(crate) fn is_mappable(&self) -> bool {
        matches!(
            self,
            Self::Extents {
                is_mappable: true,
                ..
            }
        )
    }
}

/// A message that is being hashed.
#[derive(Debug)]
struct Running {
    message: u32,
    input: Input,
    /// Number of bytes hashed so far.
    done: u64,
    /// Number of bytes that the message takes in the batch.
    reserved: u64,
    /// Whether the last window was loaded.
    is_ended: bool,
    refusal: Option<Refusal>,
}

impl Running {
    /// Returns the number of bytes to request next, if there is no other limit.
    fn wanted(&self) -> u64 {
        wanted(&self.input, self.done)
    }
}

/// Returns the number of bytes of an input to request after the first `done` ones.
fn wanted(input: &Input, done: u64) -> u64 {
    match input {
        Input::Extents { len_bytes, .. } => len_bytes - done,
        // One byte more than the file should have, to find its end.
        Input::Stream(_, stream) => match stream.len_bytes() {
            Some(len_bytes) if len_bytes >= done => (len_bytes - done)
                .saturating_add(1)
                .next_multiple_of(WINDOW_UNIT),
            _ => u64::MAX,
        },
    }
}

/// Messages that share a reader and are hashed side by side. When a message ends, the next message
/// takes its slot.
#[derive(Debug)]
pub(crate) struct RunningMessages<R, H> {
    reader: R,
    hasher: H,
    /// The messages by slot.
    slots: Vec<Option<Running>>,
    n_busy: usize,
    /// All slots before this one are busy.
    first_free: usize,
    /// Sum of `reserved` over all messages.
    reserved: u64,
    /// Messages that this reader refused, to be read from their first byte by the other reader.
    refused: Vec<(u32, Input)>,
}

impl<R: Reader, H: MessageHasher> RunningMessages<R, H> {
    pub(crate) fn new(reader: R, hasher: H) -> Self {
        Self {
            reader,
            hasher,
            slots: Vec::new(),
            n_busy: 0,
            first_free: 0,
            reserved: 0,
            refused: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.n_busy == 0
    }

    /// Returns the number of messages in the slots.
    pub(crate) fn n_busy(&self) -> usize {
        self.n_busy
    }

    pub(crate) fn hasher(&mut self) -> &mut H {
        &mut self.hasher
    }

    /// Returns the messages refused since the last call.
    pub(crate) fn take_refused(&mut self) -> Vec<(u32, Input)> {
        std::mem::take(&mut self.refused)
    }

    /// Starts a message in a free slot.
    ///
    /// # Errors
    /// Returns the input if there is no room for the message.
    pub(crate) fn try_start<M>(
        &mut self,
        message: u32,
        input: Input,
        tools: &Tools<'_, M, H::Digest>,
    ) -> Result<(), Input> {
        if !self.has_room(&input, tools) {
            return Err(input);
        }
        let free = self.slots[self.first_free..]
            .iter()
            .position(Option::is_none);
        let slot = free.map_or(self.slots.len(), |i| self.first_free + i);
        let reserved = room(&input, self.reader.batch(tools.speed));
        let running = Running {
            message,
            input,
            done: 0,
            reserved,
            is_ended: false,
            refusal: None,
        };
        if slot == self.slots.len() {
            self.slots.push(Some(running));
        } else {
            self.slots[slot] = Some(running);
        }
        self.hasher.start(slot, message);
        self.first_free = slot + 1;
        self.reserved += reserved;
        self.n_busy += 1;
        Ok(())
    }

    /// Returns `true` if the message fits in the batch with the running messages.
    fn has_room<M>(&self, input: &Input, tools: &Tools<'_, M, H::Digest>) -> bool {
        let batch = self.reader.batch(tools.speed);
        let fits = self.reserved + room(input, batch) <= batch.len_bytes();
        let is_stream = matches!(input, Input::Stream(..));
        let max_busy = match batch {
            Batch::SideBySide(_) if !fits => MAX_LANES,
            Batch::InOrder(_) if !fits => 1,
            _ => MAX_BATCH_MESSAGES,
        };
        let max_open = if is_stream {
            tools.shared.max_streams
        } else {
            max_busy
        };
        self.n_busy < max_busy.min(max_open).min(tools.shared.max_busy)
    }

    /// Reads and hashes a window of each message, until at least one message ends or is refused, or
    /// until the run is cancelled.
    pub(crate) fn run<M: Messages>(&mut self, tools: &mut Tools<'_, M, H::Digest>) {
        while self.n_busy > 0 && self.load(tools) {
            self.update(tools);
            if !self.reader.is_intact() {
                self.refuse(|_| true);
            }
            if self.retire(tools) > 0 {
                break;
            }
        }
        tools.turn = None;
    }

    /// Refuses messages, so that the other reader reads them.
    fn refuse(&mut self, is_refused: impl Fn(&Running) -> bool) {
        for running in self.slots.iter_mut().flatten() {
            if running.refusal.is_none() && is_refused(running) {
                running.refusal = Some(Refusal::TryOther);
            }
        }
    }

    /// Returns the number of bytes to load for each slot.
    fn shares(&self, batch: Batch) -> Vec<u64> {
        let slots = self.slots.iter().enumerate();
        let mut slots: Vec<(usize, &Running)> = slots
            .filter_map(|(slot, running)| Some((slot, running.as_ref()?)))
            .collect();
        if batch.is_in_order() {
            slots.sort_unstable_by_key(|(_, running)| running.message);
        }
        let mut shares = vec![0; self.slots.len()];
        let mut rest = batch.len_bytes();
        for (i, (slot, running)) in slots.into_iter().enumerate() {
            let share = batch.window_len(running.wanted(), i == 0);
            if share > rest {
                break;
            }
            shares[slot] = share;
            rest -= share;
        }
        shares
    }

    /// Loads the next window of each message. Returns `false` if the run is cancelled.
    ///
    /// Loads in order happen in turn. The turn lasts until a message ends: then other workers can
    /// read while this worker hashes.
    fn load<M: Messages>(&mut self, tools: &mut Tools<'_, M, H::Digest>) -> bool {
        let shared = tools.shared;
        if shared.cancel.is_cancelled() {
            return false;
        }
        let batch = self.reader.batch(tools.speed);
        if batch.is_in_order() {
            tools.take_turn();
        } else {
            tools.turn = None;
        }
        let shares = self.shares(batch);
        let windows = self.slots.iter_mut().zip(&shares);
        let windows = windows.map(|(running, share)| match running {
            Some(running) => Window {
                message: running.message,
                range: running.done..running.done + share,
                stream: match &mut running.input {
                    Input::Extents { .. } => None,
                    Input::Stream(file, stream) => Some((*file, stream)),
                },
            },
            None => Window {
                message: 0,
                range: 0..0,
                stream: None,
            },
        });
        let mut windows: Vec<_> = windows.collect();
        let mut refusals = Vec::new();
        let load = tools.speed.measures().then(Load::start);
        self.reader.load(
            shared.messages,
            &mut tools.files,
            tools.speed,
            &mut windows,
            |i, refusal| refusals.push((i, refusal)),
        );
        if shared.cancel.is_cancelled() {
            return false;
        }
        let wait = load.map(|load| load.wait());
        for (slot, refusal) in refusals {
            if let Some(running) = &mut self.slots[slot] {
                running.refusal = Some(refusal);
            }
        }
        let mut total = 0;
        for (slot, (running, share)) in self.slots.iter_mut().zip(shares).enumerate() {
            let Some(running) = running else { continue };
            let loaded = self.reader.bytes(slot).len() as u64;
            total += loaded;
            running.is_ended = match running.input {
                Input::Extents { len_bytes, .. } => running.done + loaded == len_bytes,
                Input::Stream(..) => loaded < share,
            };
            if running.is_ended || running.refusal.is_some() {
                tools.turn = None;
            }
        }
        if let Some(wait) = wait {
            tools.speed.note(total, wait);
        }
        if batch.is_in_order() && !self.reader.batch(tools.speed).is_in_order() {
            // Reading in order was not necessary. Reading side by side keeps all lanes busy, which
            // is worth more than the first bytes of a message. Messages that are complete are still
            // hashed.
            self.refuse(|running| {
                !running.is_ended && matches!(running.input, Input::Extents { .. })
            });
        }
        true
    }

    /// Hashes the loaded windows.
    fn update<M>(&mut self, tools: &mut Tools<'_, M, H::Digest>) {
        let Self {
            reader,
            hasher,
            slots,
            ..
        } = self;
        let inputs = slots
            .iter_mut()
            .enumerate()
            .map(|(slot, running)| match running {
                Some(running) if running.refusal.is_none() => {
                    let bytes = reader.bytes(slot);
                    running.done += bytes.len() as u64;
                    bytes
                }
                _ => &[],
            });
        let inputs: Vec<&[u8]> = inputs.collect();
        let n_bytes: usize = inputs.iter().map(|input| input.len()).sum();
        hasher.update(&inputs);
        tools.reporter.add_pending(n_bytes as u64);
        if tools.reporter.is_due() {
            tools.send();
        }
    }

    /// Removes the messages that ended or were refused, reports them, and returns their number.
    fn retire<M>(&mut self, tools: &mut Tools<'_, M, H::Digest>) -> usize {
        let slots = self.slots.iter_mut().enumerate();
        let mut ended = Vec::new();
        let mut ended_slots = Vec::new();
        let mut n_retired = 0;
        for (slot, place) in slots {
            let Some(running) =
                place.take_if(|running| running.is_ended || running.refusal.is_some())
            else {
                continue;
            };
            n_retired += 1;
            self.first_free = self.first_free.min(slot);
            self.reserved -= running.reserved;
            tools.reporter.remove_pending(running.done);
            match running.refusal {
                None => {
                    ended_slots.push(slot);
                    ended.push((running.message, running.done));
                }
                Some(Refusal::TryOther) => self.refused.push((running.message, running.input)),
                Some(Refusal::Fault(fault)) => {
                    let len_bytes = match running.input {
                        Input::Extents { len_bytes, .. } => len_bytes,
                        Input::Stream(..) => running.done,
                    };
                    tools
                        .reporter
                        .message(running.message, len_bytes, Err(fault));
                }
            }
        }
        self.n_busy -= n_retired;
        if self.n_busy == 0 {
            self.slots.clear();
            self.first_free = 0;
        }
        for ((message, len_bytes), digest) in
            ended.into_iter().zip(self.hasher.finish(&ended_slots))
        {
            tools.reporter.message(message, len_bytes, Ok(digest));
        }
        n_retired
    }
}

/// Returns the number of bytes that a message takes in a batch.
fn room(input: &Input, batch: Batch) -> u64 {
    let window_len = batch.window_len(wanted(input, 0), false);
    window_len.min(batch.len_bytes())
}
