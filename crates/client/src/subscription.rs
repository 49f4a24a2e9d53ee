//! Subscriptions to the events of a client.
//!
//! Each subscriber has a queue of its own. Sending never waits. A queue that is full takes no pieces and warnings, and of
//! each other kind of event only the last one of each torrent. Of a torrent that was removed, a full queue keeps
//! [`Event::Removed`] alone, and no more of these events than it has places. So the memory of a queue depends on the
//! torrents that the client has, and not on those that it had.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::mem::{Discriminant, discriminant};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::event::Event;

/// Number of waiting events from which on a queue is full.
const MAX_WAITING: usize = 16 << 10;

/// Maximum number of addresses of the session that a new subscriber gets. An address that is gone is not reported, so the
/// last ones count.
const MAX_ADDRESSES: usize = 64;

/// The events of a client for one subscriber, in the order in which they happen.
///
/// A subscriber that does not read has no effect on the client and on other subscribers. If too many events wait for it,
/// it loses [`Event::Piece`] and [`Event::Warning`], and of each other kind of event all but the last one of each torrent.
/// [`Event::Missed`] then reports how many were lost. The end of a torrent that the client has is never lost. A removed
/// torrent leaves [`Event::Removed`] alone, and the oldest of more than 16,384 such events are lost.
///
/// A clone gets the waiting events too, and all later ones.
pub struct Subscription {
    queue: Arc<Queue>,
    subscribers: Weak<Subscribers>,
}

impl Clone for Subscription {
    fn clone(&self) -> Self {
        let subscribers = self.subscribers.upgrade();
        // No event is sent meanwhile.
        let mut state = subscribers.as_ref().map(|subscribers| subscribers.lock());
        let queue = Arc::new(Queue {
            waiting: Mutex::new(self.queue.lock().clone()),
            changed: Condvar::new(),
        });
        if let Some(state) = &mut state {
            state.queues.push(Arc::downgrade(&queue));
        }
        Self {
            queue,
            subscribers: Weak::clone(&self.subscribers),
        }
    }
}

/// Without fields: events, links and records of torrents have tokens and passkeys.
impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

impl Subscription {
    /// Waits for the next event. Returns `None` after the last event of a client that has ended.
    pub fn recv(&self) -> Option<Arc<Event>> {
        self.wait_until(None).ok()
    }

    /// Waits for the next event for at most this time.
    ///
    /// # Errors
    /// [`RecvTimeoutError::Timeout`] if no event comes in time, [`RecvTimeoutError::Disconnected`] after the last event of
    /// a client that has ended.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Arc<Event>, RecvTimeoutError> {
        // A time that no clock can represent is no limit.
        self.wait_until(Instant::now().checked_add(timeout))
    }

    /// Returns an iterator that waits for each event, and ends with the client.
    pub fn iter(&self) -> impl Iterator<Item = Arc<Event>> {
        std::iter::from_fn(|| self.recv())
    }

    fn wait_until(&self, deadline: Option<Instant>) -> Result<Arc<Event>, RecvTimeoutError> {
        let mut waiting = self.queue.lock();
        loop {
            if let Some(event) = waiting.next() {
                return Ok(event);
            }
            if waiting.has_ended {
                return Err(RecvTimeoutError::Disconnected);
            }
            let left = deadline.map_or(Duration::MAX, |deadline| {
                deadline.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                return Err(RecvTimeoutError::Timeout);
            }
            let woken = self.queue.changed.wait_timeout(waiting, left);
            (waiting, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The queue of one subscriber.
#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Queue {
    /// Locks the queue, which is valid whenever its lock is released.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

/// The events that wait for a subscriber.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// The events by the order of their arrival.
    events: BTreeMap<u64, Arc<Event>>,
    /// The last waiting event of each kind that is not lost, by torrent.
    last: HashMap<Option<usize>, HashMap<Discriminant<Event>, u64>>,
    /// The waiting reports of removed torrents, in the order of their arrival.
    removed: VecDeque<u64>,
    n_received: u64,
    /// Number of lost events that have not been reported.
    n_missed: u64,
    /// Whether the client has ended.
    has_ended: bool,
}

impl Waiting {
    fn push(&mut self, event: Arc<Event>) {
        let is_full = self.events.len() >= MAX_WAITING;
        let number = self.n_received;
        if is_lossy(&event) {
            if is_full {
                self.n_missed += 1;
                return;
            }
        } else {
            let torrent = number_of(&event);
            if is_full && matches!(*event, Event::Removed(_)) {
                self.forget(torrent);
            }
            let last = self.last.entry(torrent).or_default();
            let earlier = last.insert(discriminant(&*event), number);
            if is_full && let Some(earlier) = earlier {
                self.lose(earlier);
            }
        }
        if matches!(*event, Event::Removed(_)) {
            if self.removed.len() >= MAX_WAITING
                && let Some(oldest) = self.removed.front()
                && let Some(oldest) = self.events.get(oldest)
            {
                self.forget(number_of(oldest));
            }
            self.removed.push_back(number);
        }
        self.events.insert(number, event);
        self.n_received += 1;
    }

    /// Removes the last events of a torrent that was removed.
    fn forget(&mut self, torrent: Option<usize>) {
        let last = self.last.remove(&torrent).unwrap_or_default();
        for number in last.into_values() {
            self.lose(number);
        }
    }

    /// Removes an event.
    fn lose(&mut self, number: u64) {
        if let Some(event) = self.events.remove(&number) {
            self.n_missed += 1;
            self.left(number, &event);
        }
    }

    /// Records that an event left the queue.
    fn left(&mut self, number: u64, event: &Event) {
        if self.removed.front() == Some(&number) {
            self.removed.pop_front();
        }
        let torrent = number_of(event);
        if let Some(last) = self.last.get_mut(&torrent) {
            let kind = discriminant(event);
            if last.get(&kind) == Some(&number) {
                last.remove(&kind);
            }
            if last.is_empty() {
                self.last.remove(&torrent);
            }
        }
    }

    /// Returns the next event, or the number of those that were lost.
    fn next(&mut self) -> Option<Arc<Event>> {
        if self.n_missed > 0 {
            let events = std::mem::take(&mut self.n_missed);
            return Some(Arc::new(Event::Missed { events }));
        }
        let (number, event) = self.events.pop_first()?;
        self.left(number, &event);
        Some(event)
    }
}

/// Returns `true` if a full queue does not take this event.
fn is_lossy(event: &Event) -> bool {
    matches!(event, Event::Piece { .. } | Event::Warning { .. })
}

fn number_of(event: &Event) -> Option<usize> {
    event.torrent().map(|torrent| torrent.number)
}

/// The subscribers of a client, or of a program that passes its events on. [`Events`] sends to them.
#[derive(Debug, Default)]
pub struct Subscribers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    queues: Vec<Weak<Queue>>,
    /// The events about the client itself that each subscriber gets: the last ones of the session.
    standing: VecDeque<Arc<Event>>,
    has_ended: bool,
}

impl State {
    /// Keeps an event for later subscribers if it is about the client itself.
    fn keep(&mut self, event: &Arc<Event>) {
        let standing = &mut self.standing;
        match **event {
            Event::Listening(address) => {
                standing.retain(|it| !matches!(**it, Event::Listening(same) if same == address));
                let is_address = |it: &Arc<Event>| matches!(**it, Event::Listening(_));
                if standing.iter().filter(|it| is_address(it)).count() == MAX_ADDRESSES
                    && let Some(oldest) = standing.iter().position(is_address)
                {
                    standing.remove(oldest);
                }
            }
            _ => return,
        }
        standing.push_back(Arc::clone(event));
    }
}

impl Subscribers {
    /// Adds a subscriber, which gets the addresses of the client and all events from now on.
    pub fn subscribe(self: &Arc<Self>) -> Subscription {
        let queue = Arc::new(Queue::default());
        let mut state = self.lock();
        queue.change(|waiting| {
            state
                .standing
                .iter()
                .cloned()
                .for_each(|event| waiting.push(event));
            waiting.has_ended = state.has_ended;
        });
        state.queues.push(Arc::downgrade(&queue));
        Subscription {
            queue,
            subscribers: Arc::downgrade(self),
        }
    }

    /// Locks the state, which is valid whenever its lock is released.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the queues of all subscribers, and forgets subscribers that were dropped.
    fn change(state: &mut State, change: impl Fn(&mut Waiting)) {
        state.queues.retain(|queue| {
            let queue = queue.upgrade();
            queue.is_some_and(|queue| {
                queue.change(&change);
                true
            })
        });
    }
}

/// The sender of events. Its end is that of all subscriptions.
#[derive(Debug)]
pub struct Events(Arc<Subscribers>);

impl Events {
    /// Returns the sender for these subscribers. They must have no other.
    pub fn new(subscribers: Arc<Subscribers>) -> Self {
        Self(subscribers)
    }

    /// Sends an event to all subscribers, and waits for none.
    pub fn send(&self, event: impl Into<Arc<Event>>) {
        let event = event.into();
        let mut state = self.0.lock();
        state.keep(&event);
        Subscribers::change(&mut state, |waiting| waiting.push(Arc::clone(&event)));
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.has_ended = true;
        Subscribers::change(&mut state, |waiting| waiting.has_ended = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::TorrentError;
    use crate::event::RemovedTorrent;
    use hashlane_api::Identity;

    fn torrent(number: usize) -> Identity {
        Identity::new(number)
    }

    fn piece(piece: u32) -> Event {
        let torrent = torrent(0);
        Event::Piece { torrent, piece }
    }

    fn ended(number: usize, uploaded_bytes: u64) -> Event {
        Event::Ended {
            torrent: torrent(number),
            uploaded_bytes,
        }
    }

    fn removed(number: usize) -> Event {
        Event::Removed(RemovedTorrent {
            torrent: torrent(number),
            label: String::new(),
            content: None,
            downloaded_bytes: 0,
            uploaded_bytes: 0,
            deletion: None,
        })
    }

    #[test]
    fn a_subscriber_that_does_not_read_loses_no_outcome() {
        let subscribers = Arc::new(Subscribers::default());
        let slow = subscribers.subscribe();
        let quick = subscribers.subscribe();
        let events = Events::new(Arc::clone(&subscribers));
        let n_pieces = MAX_WAITING as u32 * 3;
        for number in 0..n_pieces {
            events.send(piece(number));
            let next = quick.recv_timeout(Duration::ZERO);
            assert!(matches!(*next.unwrap(), Event::Piece { piece, .. } if piece == number));
        }
        for uploaded in 0..1000 {
            for number in [1, 2] {
                events.send(ended(number, uploaded));
            }
        }
        events.send(Event::Failed {
            torrent: torrent(1),
            left_bytes: 0,
            error: TorrentError::Ended,
        });
        assert_eq!(slow.queue.lock().events.len(), MAX_WAITING + 3);
        drop(events);
        let lost = u64::from(n_pieces) - MAX_WAITING as u64 + 2 * 999;
        let next = slow.recv().unwrap();
        assert!(
            matches!(*next, Event::Missed { events } if events == lost),
            "{next:?}"
        );
        let rest: Vec<_> = slow.iter().collect();
        let pieces = rest.iter().take(MAX_WAITING).zip(0..);
        for (event, number) in pieces {
            assert!(matches!(**event, Event::Piece { piece, .. } if piece == number));
        }
        let rest = &rest[MAX_WAITING..];
        assert!(
            matches!(
                rest.iter().map(|event| &**event).collect::<Vec<_>>()[..],
                [
                    Event::Ended { torrent: first, uploaded_bytes: 999 },
                    Event::Ended { torrent: second, uploaded_bytes: 999 },
                    Event::Failed { .. },
                ] if (first.number, second.number) == (1, 2)
            ),
            "{rest:?}"
        );
        assert!(slow.recv().is_none());
        assert!(slow.queue.lock().last.is_empty());
    }

    /// Torrents that come and go while the subscriber does not read leave no more events than a queue has places.
    #[test]
    fn removed_torrents_do_not_fill_the_memory() {
        let subscribers = Arc::new(Subscribers::default());
        let slow = subscribers.subscribe();
        let events = Events::new(Arc::clone(&subscribers));
        for number in 0..MAX_WAITING as u32 {
            events.send(piece(number));
        }
        let live = ended(0, 7);
        events.send(live);
        let n_removed = MAX_WAITING + 1000;
        for number in 1..=n_removed {
            events.send(Event::Added {
                torrent: torrent(number),
                label: String::new(),
                is_known: false,
                n_restarts: 0,
            });
            events.send(ended(number, 1));
            events.send(removed(number));
        }
        {
            let waiting = slow.queue.lock();
            assert_eq!(waiting.events.len(), 2 * MAX_WAITING + 1);
            assert_eq!(waiting.removed.len(), MAX_WAITING);
            assert_eq!(waiting.last.len(), 1 + MAX_WAITING);
        }
        drop(events);
        let lost = 2 * n_removed as u64 + 1000;
        let next = slow.recv().unwrap();
        assert!(
            matches!(*next, Event::Missed { events } if events == lost),
            "{next:?}"
        );
        let rest: Vec<_> = slow.iter().skip(MAX_WAITING).collect();
        assert!(
            matches!(*rest[0], Event::Ended { torrent, uploaded_bytes: 7 } if torrent.number == 0)
        );
        for (event, number) in rest[1..].iter().zip(1001..) {
            assert!(
                matches!(&**event, Event::Removed(removed) if removed.torrent.number == number),
                "{event:?}"
            );
        }
        assert_eq!(rest.len(), 1 + MAX_WAITING);
        let waiting = slow.queue.lock();
        assert!(waiting.last.is_empty() && waiting.removed.is_empty());
    }

    #[test]
    fn the_addresses_for_late_subscribers_are_bounded() {
        let subscribers = Arc::new(Subscribers::default());
        let events = Events::new(Arc::clone(&subscribers));
        let listening = |port: u16| Event::Listening(([127, 0, 0, 1], port).into());
        for port in (1..=200).chain([190]) {
            events.send(listening(port));
        }
        let late = subscribers.subscribe();
        drop(events);
        let ports: Vec<Option<u16>> = late
            .iter()
            .map(|event| match *event {
                Event::Listening(address) => Some(address.port()),
                _ => None,
            })
            .collect();
        let last = (137..=200).filter(|port| *port != 190).chain([190]);
        let expected: Vec<Option<u16>> = last.map(Some).collect();
        assert_eq!(ports, expected);
    }

    #[test]
    fn a_subscriber_that_reads_gets_every_event() {
        let subscribers = Arc::new(Subscribers::default());
        let subscription = subscribers.subscribe();
        let events = Events::new(subscribers);
        for uploaded in 0..3 {
            events.send(ended(1, uploaded));
        }
        drop(events);
        assert_eq!(subscription.iter().count(), 3);
    }

    #[test]
    fn a_clone_gets_the_same_events() {
        let subscribers = Arc::new(Subscribers::default());
        let subscription = subscribers.subscribe();
        let events = Events::new(Arc::clone(&subscribers));
        events.send(ended(1, 0));
        let clone = subscription.clone();
        events.send(ended(1, 1));
        drop((events, subscribers));
        let after = subscription.clone();
        for subscription in [subscription, clone, after] {
            assert_eq!(subscription.iter().count(), 2);
        }
    }

    #[test]
    fn a_late_subscriber_gets_the_addresses() {
        let subscribers = Arc::new(Subscribers::default());
        let events = Events::new(Arc::clone(&subscribers));
        drop(subscribers.subscribe());
        events.send(Event::Listening(([127, 0, 0, 1], 2).into()));
        events.send(piece(0));
        events.send(Event::Listening(([127, 0, 0, 1], 1).into()));
        assert!(subscribers.lock().queues.is_empty());
        let late = subscribers.subscribe();
        let timeout = late.recv_timeout(Duration::ZERO);
        assert!(matches!(*timeout.unwrap(), Event::Listening(_)));
        assert!(matches!(*late.recv().unwrap(), Event::Listening(_)));
        assert_eq!(
            late.recv_timeout(Duration::ZERO).unwrap_err(),
            RecvTimeoutError::Timeout
        );
        drop(events);
        assert!(late.recv().is_none());
        let after = subscribers.subscribe();
        assert_eq!(after.iter().count(), 2);
    }
}
