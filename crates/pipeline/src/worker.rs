//! The work of one thread, which takes messages, chooses a reader for each, and reports digests.

use std::collections::VecDeque;

use crate::hasher::MessageHasher;
use crate::messages::{FileIndex, MessageLen, Messages};
use crate::open_files::{Fault, OpenFiles};
use crate::reader::{Buffered, Mapped};
use crate::results::Reporter;
use crate::running::{Input, RunningMessages, Shared, Tools};

/// Shorter files are read instead of mapped: a map costs more than the copy, and threads wait for
/// each other to create maps. 10,000 files of 50 KiB on two cores take 0.15 s read and 0.22 s
/// mapped (version 2; Xeon, Sapphire Rapids, November 2026).
const MIN_MAPPED_LEN: u64 = 256 << 10;

/// Shorter messages are read without a search for holes: the two system calls cost as much as
/// hashing the zeros.
const MIN_HOLE_LEN: u64 = 64 << 10;

/// The next step for a message.
enum Step<D> {
    /// The result is known without reading.
    Report(Result<D, Fault>),
    Start(Input),
    /// The run is cancelled.
    Stop,
}

/// A thread that hashes messages.
pub(crate) struct Worker<'a, M, H: MessageHasher> {
    tools: Tools<'a, M, H::Digest>,
    mapped: Option<RunningMessages<Mapped, H>>,
    buffered: RunningMessages<Buffered, H>,
    /// Messages that wait for a slot.
    waiting: VecDeque<(u32, Input)>,
}

impl<'a, M: Messages, H: MessageHasher> Worker<'a, M, H> {
    pub(crate) fn new(
        shared: &'a Shared<'a, M>,
        number: usize,
        new_hasher: impl Fn() -> H,
        reporter: Reporter<'a, H::Digest>,
    ) -> Self {
        // The system can limit addresses. Without maps, everything is read.
        let mapped = shared.use_maps.then(|| Mapped::new().ok());
        let reader = shared
            .direct_len
            .map_or_else(Buffered::default, Buffered::direct);
        Self {
            tools: Tools {
                shared,
                disk_turn: &shared.disk_turns[number % shared.disk_turns.len()],
                turn: None,
                files: OpenFiles::new(shared.files, shared.cancel, &shared.readings[number]),
                speed: shared.speed,
                reporter,
            },
            mapped: mapped
                .flatten()
                .map(|reader| RunningMessages::new(reader, new_hasher())),
            buffered: RunningMessages::new(reader, new_hasher()),
            waiting: VecDeque::new(),
        }
    }

    /// Works until no messages are left or the run is cancelled.
    pub(crate) fn work(mut self) {
        let shared = self.tools.shared;
        loop {
            let is_in_order =
                shared.schedule.runs_are_batches() && !self.tools.speed.allows_any_order();
            if is_in_order {
                // Runs are then read in the order in which they are taken.
                self.tools.take_turn();
            }
            let Some(run) = shared.schedule.next_run() else {
                self.tools.turn = None;
                break;
            };
            for message in run {
                if shared.cancel.is_cancelled() {
                    return self.tools.send();
                }
                self.take(message);
                self.start_waiting();
            }
            if is_in_order {
                // The worker would otherwise take the next run before it reads this one, and another worker would read
                // between the two.
                self.finish_started();
            }
            if self.tools.reporter.is_due() {
                self.tools.send();
            }
        }
        self.finish_started();
        self.tools.send();
    }

    /// Works until all messages that were taken have ended, or the run is cancelled.
    fn finish_started(&mut self) {
        while !(self.is_idle() || self.tools.shared.cancel.is_cancelled()) {
            if let Some(mapped) = &mut self.mapped {
                mapped.run(&mut self.tools);
            }
            self.buffered.run(&mut self.tools);
            self.collect_refused();
            self.start_waiting();
        }
    }

    fn is_idle(&self) -> bool {
        self.buffered.is_empty() && self.mapped.as_ref().is_none_or(RunningMessages::is_empty)
    }

    /// Reports a message at once, or adds it to the messages that wait.
    fn take(&mut self, message: u32) {
        let (len_bytes, step) = match self.tools.shared.messages.len(message) {
            MessageLen::Bytes(len_bytes) => (len_bytes, self.step_for(message, len_bytes)),
            MessageLen::UntilEnd(file) => (0, self.stream_for(file)),
        };
        match step {
            Step::Report(digest) => self.tools.reporter.message(message, len_bytes, digest),
            Step::Start(input) => self.waiting.push_back((message, input)),
            Step::Stop => {}
        }
    }

    /// Returns the next step for a message of known length.
    fn step_for(&mut self, message: u32, len_bytes: u64) -> Step<H::Digest> {
        let messages = self.tools.shared.messages;
        let extents = messages.extents(message, 0..len_bytes);
        let mut extents = extents.filter_map(|extent| Some((extent.file?, extent)));
        let Some((file, extent)) = extents.next() else {
            return self.zeros(message, len_bytes);
        };
        if extents.next().is_some() {
            // Small files, or the border between two large ones. A check of the files costs more
            // than it can save, unless the message contains much padding.
            let fault = self.fault_beside_padding(message, len_bytes);
            return match fault {
                Some(fault) => Step::Report(Err(fault)),
                None => Step::Start(Input::Extents {
                    len_bytes,
                    is_mappable: false,
                }),
            };
        }
        if len_bytes < MIN_HOLE_LEN && self.mapped.is_none() {
            // The read finds the same faults. A batch has more short messages than a worker keeps files open, so the file
            // would be opened a second time for the read.
            return Step::Start(Input::Extents {
                len_bytes,
                is_mappable: false,
            });
        }
        let opened = match self.tools.files.open(file) {
            Ok(opened) => opened,
            Err(fault) => return Step::Report(Err(fault)),
        };
        let end = extent.offset + extent.len_bytes;
        let file_len = opened.len_bytes();
        let can_be_mapped = opened.on_disk().is_some() && file_len >= MIN_MAPPED_LEN;
        if file_len < end {
            return Step::Report(Err(Fault::Missing));
        }
        if extent.len_bytes >= MIN_HOLE_LEN && opened.is_hole(extent.offset..end) {
            return self.zeros(message, len_bytes);
        }
        Step::Start(Input::Extents {
            len_bytes,
            is_mappable: extent.len_bytes == len_bytes && can_be_mapped,
        })
    }

    /// Returns the first fault in the files of a message with at least [`MIN_HOLE_LEN`] bytes of
    /// padding. A torrent of a few KB can have 40 GiB of padding, which is not hashed if a file is
    /// absent.
    fn fault_beside_padding(&mut self, message: u32, len_bytes: u64) -> Option<Fault> {
        let messages = self.tools.shared.messages;
        let extents = || messages.extents(message, 0..len_bytes);
        let padding = extents().filter(|extent| extent.file.is_none());
        if padding.map(|extent| extent.len_bytes).sum::<u64>() < MIN_HOLE_LEN {
            return None;
        }
        extents().find_map(|extent| match self.tools.files.open(extent.file?) {
            Ok(opened) => {
                let end = extent.offset + extent.len_bytes;
                (opened.len_bytes() < end).then_some(Fault::Missing)
            }
            Err(fault) => Some(fault),
        })
    }

    /// Opens a file that is a whole message, after there is a descriptor for it.
    fn stream_for(&mut self, file: FileIndex) -> Step<H::Digest> {
        while self.buffered.n_busy() >= self.tools.shared.max_streams {
            self.buffered.run(&mut self.tools);
            if self.tools.shared.cancel.is_cancelled() {
                return Step::Stop;
            }
        }
        match self.tools.files.open_stream(file) {
            Ok(stream) => Step::Start(Input::Stream(file, stream)),
            Err(fault) => Step::Report(Err(fault)),
        }
    }

    /// Computes the digest of a message of zeros.
    fn zeros(&mut self, message: u32, len_bytes: u64) -> Step<H::Digest> {
        let hasher = self.buffered.hasher();
        match hasher.zeros(message, len_bytes, self.tools.shared.cancel) {
            Some(digest) => Step::Report(Ok(digest)),
            None => Step::Stop,
        }
    }

    /// Starts the messages that wait for a slot. When the slots of a reader are full, runs them first.
    ///
    /// The loop terminates although a reader may pass a message to the other one.
    /// What the mapped reader refuses is not mapped again. The buffered reader refuses messages only
    /// when reading becomes fast, which `ReadSpeed` accepts a few times.
    fn start_waiting(&mut self) {
        while let Some((message, input)) = self.waiting.pop_front() {
            let tools = &mut self.tools;
            if tools.shared.cancel.is_cancelled() {
                self.waiting.clear();
                return;
            }
            let to_map = input.is_mappable() && tools.speed.allows_any_order();
            let mapped = self.mapped.as_mut().filter(|_| to_map);
            let started = if let Some(mapped) = mapped {
                let started = mapped.try_start(message, input, tools);
                started.inspect_err(|_| mapped.run(tools))
            } else {
                let started = self.buffered.try_start(message, input, tools);
                started.inspect_err(|_| self.buffered.run(tools))
            };
            if let Err(input) = started {
                self.waiting.push_front((message, input));
                self.collect_refused();
            }
        }
    }

    /// Adds the messages that a reader refused to the waiting ones.
    fn collect_refused(&mut self) {
        let mapped = self.mapped.as_mut().map(RunningMessages::take_refused);
        for (message, mut input) in mapped.into_iter().flatten() {
            if let Input::Extents { is_mappable, .. } = &mut input {
                *is_mappable = false;
            }
            self.waiting.push_back((message, input));
        }
        self.waiting.extend(self.buffered.take_refused());
    }
}
