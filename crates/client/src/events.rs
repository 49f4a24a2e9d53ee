//! The channel of a client's events.

use std::cell::Cell;
use std::sync::mpsc;

use crate::event::Event;

/// A sender of events that records whether the receiver was dropped.
#[derive(Debug)]
pub(crate) struct Events {
    sender: mpsc::Sender<Event>,
    is_closed: Cell<bool>,
}

impl Events {
    pub(crate) fn new(sender: mpsc::Sender<Event>) -> Self {
        Self {
            sender,
            is_closed: Cell::new(false),
        }
    }

    pub(crate) fn send(&self, event: Event) {
        if self.sender.send(event).is_err() {
            self.is_closed.set(true);
        }
    }

    /// Returns `true` if the receiver was dropped.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }
}
