//! A cache of open files.

use std::collections::HashMap;
use std::hash::Hash;
use std::io;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::budget::{Budget, IdleFiles, Slot};

/// A cache that keeps files open under keys, for one thread or one torrent.
///
/// All caches and streams of the process share one budget. It is a fifth of the soft limit of open
/// files (`RLIMIT_NOFILE`) at the first use, less 20, but at least 8 and at most 1,024. The rest is
/// for sockets and for libtorrent, which uses up to four fifths. When the budget is used up, or the
/// system has no descriptor left, the least recently used files of all caches and threads are
/// closed. Files that a caller holds stay open.
///
/// Each cache has its own lock, so threads with separate caches do not wait for each other.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use hashlane_files::{FileCache, SourceFile};
/// # let path = tempfile::NamedTempFile::new()?;
/// # let path = path.path();
/// let cache = FileCache::new();
/// let file = match cache.get(&7) {
///     Some(file) => file,
///     None => cache.open(7, || SourceFile::open(path))?,
/// };
/// assert_eq!(file.len_bytes(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FileCache<K, V>
where
    K: Clone + Eq + Hash + Send + std::fmt::Debug + 'static,
    V: Send + Sync + std::fmt::Debug + 'static,
{
    budget: &'static Budget,
    /// The number of the cache in the budget.
    registration: u64,
    max_files: usize,
    entries: Arc<Entries<K, V>>,
}

#[derive(Debug)]
struct Entries<K, V>(Mutex<HashMap<K, Entry<V>>>);

#[derive(Debug)]
struct Entry<V> {
    file: Arc<Counted<V>>,
    last_use: u64,
}

/// An open file of a [`FileCache`]. The file stays open as long as this value exists.
#[derive(Debug)]
pub struct CachedFile<V>(Arc<Counted<V>>);

#[derive(Debug)]
struct Counted<V> {
    value: V,
    /// Dropped after the file is closed.
    _slot: Slot,
}

impl<K, V> FileCache<K, V>
where
    K: Clone + Eq + Hash + Send + std::fmt::Debug + 'static,
    V: Send + Sync + std::fmt::Debug + 'static,
{
    /// Returns an empty cache.
    pub fn new() -> Self {
        Self::with_max_files(usize::MAX)
    }

    /// Returns an empty cache that keeps at most `max_files` files open, not counting those that
    /// callers hold.
    pub fn with_max_files(max_files: usize) -> Self {
        let mut cache = Self::with_budget(Budget::of_process());
        cache.max_files = max_files;
        cache
    }

    pub(crate) fn with_budget(budget: &'static Budget) -> Self {
        let entries = Arc::new(Entries(Mutex::new(HashMap::new())));
        let registered = Arc::downgrade(&entries) as Weak<dyn IdleFiles>;
        Self {
            budget,
            registration: budget.register(registered),
            max_files: usize::MAX,
            entries,
        }
    }

    /// Returns the file under `key`, if it is open.
    pub fn get(&self, key: &K) -> Option<CachedFile<V>> {
        let mut entries = self.entries.lock();
        let entry = entries.get_mut(key)?;
        entry.last_use = self.budget.now();
        Some(CachedFile(Arc::clone(&entry.file)))
    }

    /// Opens a file and keeps it under `key`, replacing an earlier one. `open` must return a value
    /// with exactly one descriptor.
    ///
    /// # Errors
    /// The error of `open`.
    pub fn open(&self, key: K, open: impl FnOnce() -> io::Result<V>) -> io::Result<CachedFile<V>> {
        self.budget.make_room();
        let value = open()?;
        let slot = self.budget.take_slot();
        let file = Arc::new(Counted { value, _slot: slot });
        let entry = Entry {
            file: Arc::clone(&file),
            last_use: self.budget.now(),
        };
        let mut entries = self.entries.lock();
        let earlier = entries.insert(key, entry);
        let least_used = if entries.len() > self.max_files {
            remove_least_recently_used(&mut entries)
        } else {
            None
        };
        drop(entries);
        // The lock is free again before files close.
        drop((earlier, least_used));
        Ok(CachedFile(file))
    }

    /// Closes the file under `key` as soon as no caller holds it.
    pub fn remove(&self, key: &K) {
        let removed = self.entries.lock().remove(key);
        drop(removed);
    }

    /// Closes all files as soon as no caller holds them.
    pub fn clear(&self) {
        let removed = std::mem::take(&mut *self.entries.lock());
        drop(removed);
    }

    /// Returns `true` if the callers of all caches together hold more files than the budget allows.
    /// A caller that can work with fewer files should then release some.
    pub fn is_crowded(&self) -> bool {
        self.budget.is_exceeded()
    }
}

impl<K, V> Default for FileCache<K, V>
where
    K: Clone + Eq + Hash + Send + std::fmt::Debug + 'static,
    V: Send + Sync + std::fmt::Debug + 'static,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> Drop for FileCache<K, V>
where
    K: Clone + Eq + Hash + Send + std::fmt::Debug + 'static,
    V: Send + Sync + std::fmt::Debug + 'static,
{
    fn drop(&mut self) {
        self.clear();
        self.budget.unregister(self.registration);
    }
}

impl<K, V> Entries<K, V> {
    fn lock(&self) -> MutexGuard<'_, HashMap<K, Entry<V>>> {
        // The map is consistent whenever the lock is released, even after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remove_least_recently_used<K: Clone + Eq + Hash, V>(
    entries: &mut HashMap<K, Entry<V>>,
) -> Option<Entry<V>> {
    let idle = entries.iter().filter(|(_, entry)| entry.is_idle());
    let (key, _) = idle.min_by_key(|(_, entry)| entry.last_use)?;
    let key = key.clone();
    entries.remove(&key)
}

impl<V> Entry<V> {
    /// Returns `true` if no caller holds the file. A caller can only get it under the lock.
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.file) == 1
    }
}

impl<K, V> IdleFiles for Entries<K, V>
where
    K: Eq + Hash + Send + std::fmt::Debug,
    V: Send + Sync + std::fmt::Debug,
{
    fn last_uses(&self, last_uses: &mut Vec<u64>) {
        let entries = self.lock();
        let idle = entries.values().filter(|entry| entry.is_idle());
        last_uses.extend(idle.map(|entry| entry.last_use));
    }

    fn close_until(&self, last_use: u64, max_files: usize) -> usize {
        let mut entries = self.lock();
        let is_old = |_: &K, entry: &mut Entry<V>| entry.last_use <= last_use && entry.is_idle();
        let closed: Vec<_> = entries.extract_if(is_old).take(max_files).collect();
        drop(entries);
        closed.len()
    }
}

impl<V> Clone for CachedFile<V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<V> CachedFile<V> {
    /// Returns `true` if both are the same open file.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<V> Deref for CachedFile<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.0.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_file_of_any_cache_is_closed() {
        static BUDGET: Budget = Budget::new(3);
        let budget = &BUDGET;
        let (one, two) = (
            FileCache::with_budget(budget),
            FileCache::with_budget(budget),
        );
        one.open(0, || Ok(())).unwrap();
        one.open(1, || Ok(())).unwrap();
        two.open(2, || Ok(())).unwrap();
        assert!(one.get(&0).is_some());
        two.open(3, || Ok(())).unwrap();
        assert!(one.get(&1).is_none(), "the file used least recently");
        assert!(one.get(&0).is_some() && two.get(&2).is_some() && two.get(&3).is_some());
    }

    #[test]
    fn files_that_are_held_stay_open() {
        static BUDGET: Budget = Budget::new(2);
        let budget = &BUDGET;
        let cache = FileCache::with_budget(budget);
        let held: Vec<_> = (0..2).map(|i| cache.open(i, || Ok(i)).unwrap()).collect();
        assert!(!cache.is_crowded());
        let third = cache.open(2, || Ok(2)).unwrap();
        assert!(cache.is_crowded());
        assert!((0..3).all(|i| cache.get(&i).is_some()));
        drop((held, third));
        cache.open(3, || Ok(3)).unwrap();
        cache.open(4, || Ok(4)).unwrap();
        cache.clear();
        assert!(!cache.is_crowded());
        cache.open(5, || Ok(5)).unwrap();
        drop(cache);
        budget.make_room();
        assert!(!budget.is_exceeded());
    }

    #[test]
    fn a_cache_closes_its_least_recently_used_file_beyond_its_limit() {
        let cache = FileCache::with_max_files(2);
        let held = cache.open(0, || Ok(())).unwrap();
        cache.open(1, || Ok(())).unwrap();
        cache.open(2, || Ok(())).unwrap();
        assert!(cache.get(&0).is_some(), "the file is held");
        assert!(cache.get(&1).is_none(), "the file used least recently");
        assert!(cache.get(&2).is_some());
        drop(held);
        // Uses between two opens have the same stamp.
        cache.open(2, || Ok(())).unwrap();
        cache.open(3, || Ok(())).unwrap();
        assert!(cache.get(&0).is_none() && cache.get(&2).is_some() && cache.get(&3).is_some());
    }

    #[test]
    fn only_a_lack_of_descriptors_closes_files() {
        static BUDGET: Budget = Budget::new(100);
        let budget = &BUDGET;
        let cache = FileCache::with_budget(budget);
        for i in 0..20 {
            cache.open(i, || Ok(i)).unwrap();
        }
        let mut n_attempts = 0;
        let result = budget.retry(|| {
            n_attempts += 1;
            match n_attempts {
                1 => Err(io::Error::from_raw_os_error(24)),
                2 => Err(io::Error::from_raw_os_error(23)),
                _ => Ok(()),
            }
        });
        assert!(result.is_ok());
        assert!(cache.get(&0).is_none() && cache.get(&19).is_none());
        let error = budget.retry(|| Err::<(), _>(io::ErrorKind::NotFound.into()));
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
