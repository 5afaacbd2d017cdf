//! Results kept on disk, found by what they were made from.
//!
//! Two kinds of file: `keys/K` names the contents made from what hashes to K, and `blobs/B` holds contents that hash to
//! B. Both are written beside their place and renamed into it, so that nobody sees half a file. A key names its blob
//! together with a check over both names, and a blob is hashed again whenever it is used: what does not match is
//! removed and counts as not there. Contents thus never depend on the cache, only the time does.
//!
//! Used files are stamped with the time, and the oldest go when there is too much. A reader gets a hard link of its
//! own, so nothing vanishes under it.

use blake3::{Hash, Hasher};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// Bytes kept, unless told otherwise.
pub const DEFAULT_LIMIT: u64 = 8 << 30;
/// Files that nobody finished are swept away after this.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// The cache directory.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    limit: u64,
    /// Something was added: look whether there is too much.
    grown: AtomicBool,
}

/// See [`Cache::reserve`].
#[derive(Debug)]
pub struct Reservation {
    _locks: Vec<File>,
}

/// Hash of everything that a result depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(Hash);

impl Key {
    /// Hashes `parts`, each with its length, so that no two lists are taken for the same.
    pub fn of(parts: &[&[u8]]) -> Key {
        let mut hasher = Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Key(hasher.finalize())
    }

    /// Hashes a file, piece by piece: it may be larger than the memory that one would want to take for it.
    pub fn of_file(path: &Path) -> io::Result<Key> {
        let mut hasher = Hasher::new();
        hasher.update_reader(File::open(path)?)?;
        Ok(Key(hasher.finalize()))
    }

    /// As text.
    pub fn to_hex(self) -> String {
        self.0.to_hex().to_string()
    }
}

impl Cache {
    /// Opens the cache at `root`, making the directory. Fails if nothing can be written there.
    pub fn open(root: &Path, limit: u64) -> io::Result<Cache> {
        for part in ["keys", "blobs", "work", "locks"] {
            fs::create_dir_all(root.join(part))?;
        }
        // Being there does not mean being writable.
        tempfile::tempfile_in(root.join("work"))?;
        Ok(Cache {
            root: root.to_owned(),
            limit,
            grown: AtomicBool::new(false),
        })
    }

    /// Where to put files that are only needed for a while; hard links to blobs can be made there.
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The contents stored under `key`, unless there are none or they are damaged.
    pub fn get(&self, key: Key) -> Option<Vec<u8>> {
        let blob = self.lookup(key)?;
        let contents = fs::read(self.blob(blob)).ok()?;
        self.verified(key, blob, blake3::hash(&contents))
            .then_some(contents)
    }

    /// Puts the contents stored under `key` at `path`. False if there are none.
    pub fn link(&self, key: Key, path: &Path) -> bool {
        let Some(blob) = self.lookup(key) else {
            return false;
        };
        // The link is made first: what is checked is then what will be used.
        if link_or_copy(&self.blob(blob), path).is_err() {
            return false;
        }
        let sound = hash_file(path).is_ok_and(|found| self.verified(key, blob, found));
        if !sound {
            let _ = fs::remove_file(path);
        }
        sound
    }

    /// Stores `contents` under `key`. That it may fail does not matter to the result.
    pub fn put(&self, key: Key, contents: &[u8]) -> io::Result<()> {
        let blob = blake3::hash(contents);
        let path = self.blob(blob);
        // A file of that name may be damaged: a good one takes its place.
        self.write(&path, contents)?;
        self.write(&self.key(key), entry(key, blob).as_bytes())?;
        self.grown.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Holds others back who want to make what these keys stand for, until the result is dropped: whoever waits here
    /// finds it made. Without the locks, which a file system may not have, it is only made twice.
    pub fn reserve(&self, keys: impl Iterator<Item = Key>) -> Reservation {
        let mut names: Vec<String> = keys.map(|key| key.to_hex()[..2].to_owned()).collect();
        // In the same order everywhere, so that no two wait for each other.
        names.sort();
        names.dedup();
        let lock = |name: &String| {
            let path = self.root.join("locks").join(name);
            let file = File::options().create(true).append(true).open(path).ok()?;
            file.lock().ok()?;
            Some(file)
        };
        Reservation {
            _locks: names.iter().filter_map(lock).collect(),
        }
    }

    fn blob(&self, hash: Hash) -> PathBuf {
        self.root.join("blobs").join(hash.to_hex().as_str())
    }

    fn key(&self, key: Key) -> PathBuf {
        self.root.join("keys").join(key.0.to_hex().as_str())
    }

    fn lookup(&self, key: Key) -> Option<Hash> {
        let text = fs::read_to_string(self.key(key)).ok()?;
        let blob = text.get(..64).and_then(|hex| Hash::from_hex(hex).ok());
        match blob.filter(|blob| entry(key, *blob) == text) {
            Some(blob) => {
                touch(&self.key(key));
                touch(&self.blob(blob));
                Some(blob)
            }
            None => {
                let _ = fs::remove_file(self.key(key));
                None
            }
        }
    }

    /// Whether a blob is what its name says. If not, it and the key that led to it go.
    fn verified(&self, key: Key, blob: Hash, found: Hash) -> bool {
        let sound = blob == found;
        if !sound {
            let _ = fs::remove_file(self.blob(blob));
            let _ = fs::remove_file(self.key(key));
        }
        sound
    }

    fn write(&self, path: &Path, contents: &[u8]) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(self.work())?;
        file.write_all(contents)?;
        file.persist(path)?;
        Ok(())
    }

    /// Removes the files that were not used for the longest time, if there is too much, and what others left behind.
    /// Costs a look at every file, and is done only if something was added.
    pub fn sweep(&self) {
        if !self.grown.swap(false, Ordering::Relaxed) {
            return;
        }
        let mut files = Vec::new();
        for part in ["keys", "blobs"] {
            files.extend(listing(&self.root.join(part)));
        }
        let mut total: u64 = files.iter().map(|file| file.size).sum();
        if total > self.limit {
            files.sort_by_key(|file| file.used);
            // Some more than needed, so that it is not done again at once.
            let enough = self.limit - self.limit / 4;
            for file in files {
                if total <= enough {
                    break;
                }
                if fs::remove_file(&file.path).is_ok() {
                    total -= file.size;
                }
            }
        }
        let now = SystemTime::now();
        for old in listing(&self.work()) {
            if now.duration_since(old.used).is_ok_and(|age| age > ABANDONED) {
                let _ = fs::remove_dir_all(&old.path).or_else(|_| fs::remove_file(&old.path));
            }
        }
    }
}

/// What a key file holds.
fn entry(key: Key, blob: Hash) -> String {
    let check = Key::of(&[key.0.as_bytes(), blob.as_bytes()]);
    format!("{} {}\n", blob.to_hex(), check.0.to_hex())
}

struct Listed {
    path: PathBuf,
    size: u64,
    used: SystemTime,
}

fn listing(directory: &Path) -> Vec<Listed> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some(Listed {
                path: entry.path(),
                size: metadata.len(),
                used: metadata.modified().ok()?,
            })
        })
        .collect()
}

fn touch(path: &Path) {
    // Only the order of eviction depends on it.
    if let Ok(file) = File::open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => fs::copy(from, to).map(drop),
        other => other,
    }
}

fn hash_file(path: &Path) -> io::Result<Hash> {
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(blake3::hash(&[]));
    }
    // SAFETY: The map is only read. Blobs are never written again once they have their name.
    let data = unsafe { memmap2::Mmap::map(&file) }?;
    Ok(blake3::hash(&data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn cache() -> (tempfile::TempDir, Cache) {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::open(directory.path(), DEFAULT_LIMIT).unwrap();
        (directory, cache)
    }

    /// The only file in a part of the cache.
    fn only(directory: &tempfile::TempDir, part: &str) -> PathBuf {
        let files: Vec<_> = fs::read_dir(directory.path().join(part)).unwrap().collect();
        assert_eq!(files.len(), 1);
        files.into_iter().next().unwrap().unwrap().path()
    }

    #[test]
    fn all_of_a_file_makes_its_key() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        // More than one piece.
        let mut contents = vec![7; 1_000_000];
        let mut key = || {
            fs::write(&path, &contents).unwrap();
            contents[999_999] += 1;
            Key::of_file(&path).unwrap()
        };
        assert_ne!(key(), key());
        assert!(Key::of_file(&directory.path().join("none")).is_err());
    }

    #[test]
    fn what_is_put_comes_back_under_its_key_only() {
        let (directory, cache) = cache();
        cache.put(Key::of(&[b"a"]), b"contents").unwrap();
        assert_eq!(cache.get(Key::of(&[b"a"])).unwrap(), b"contents");
        assert_eq!(cache.get(Key::of(&[b"b"])), None);
        let path = directory.path().join("linked");
        assert!(cache.link(Key::of(&[b"a"]), &path));
        assert_eq!(fs::read(path).unwrap(), b"contents");
        assert!(!cache.link(Key::of(&[b"b"]), &directory.path().join("other")));
    }

    #[test]
    fn lists_that_run_together_have_different_keys() {
        assert_ne!(Key::of(&[b"ab", b"c"]), Key::of(&[b"a", b"bc"]));
        assert_ne!(Key::of(&[b"a", b""]), Key::of(&[b"a"]));
    }

    #[test]
    fn a_damaged_blob_is_not_used_and_heals() {
        for damage in [&b"Contents"[..], b"cont", b"", b"contents and more"] {
            let (directory, cache) = cache();
            let key = Key::of(&[b"a"]);
            cache.put(key, b"contents").unwrap();
            let blob = only(&directory, "blobs");
            fs::write(&blob, damage).unwrap();
            assert_eq!(cache.get(key), None, "{damage:?}");
            cache.put(key, b"contents").unwrap();
            fs::write(&blob, damage).unwrap();
            let path = directory.path().join("linked");
            assert!(!cache.link(key, &path), "{damage:?}");
            assert!(!path.exists());
            cache.put(key, b"contents").unwrap();
            assert_eq!(cache.get(key).unwrap(), b"contents");
        }
    }

    #[test]
    fn a_damaged_key_is_not_used() {
        let (directory, cache) = cache();
        let (one, two) = (Key::of(&[b"one"]), Key::of(&[b"two"]));
        cache.put(two, b"other").unwrap();
        let other = fs::read(only(&directory, "keys")).unwrap();
        cache.put(one, b"contents").unwrap();
        // Even if it names a blob that is there and sound.
        for damage in [&other[..], b"", b"x", "\u{e4}".repeat(64).as_bytes()] {
            fs::write(cache.key(one), damage).unwrap();
            assert_eq!(cache.get(one), None, "{damage:?}");
            cache.put(one, b"contents").unwrap();
        }
        assert_eq!(cache.get(one).unwrap(), b"contents");
    }

    #[test]
    fn the_oldest_go_when_there_is_too_much() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::open(directory.path(), 10_000).unwrap();
        let key = |n: u8| Key::of(&[&[n]]);
        for n in 0..4 {
            cache.put(key(n), &[n; 3000]).unwrap();
            let age = Duration::from_secs(1000 - u64::from(n));
            for path in [cache.key(key(n)), cache.blob(blake3::hash(&[n; 3000]))] {
                let file = File::open(path).unwrap();
                file.set_modified(SystemTime::now() - age).unwrap();
            }
        }
        // Used again, so it is not the oldest any more.
        assert!(cache.get(key(0)).is_some());
        cache.sweep();
        let left: Vec<u8> = (0..4).filter(|n| cache.get(key(*n)).is_some()).collect();
        assert_eq!(left, [0, 3]);
    }

    #[test]
    fn abandoned_files_are_swept_away() {
        let (_directory, cache) = cache();
        let (old, new) = (cache.work().join("old"), cache.work().join("new"));
        for path in [&old, &new] {
            fs::create_dir(path).unwrap();
        }
        let file = File::open(&old).unwrap();
        file.set_modified(SystemTime::now() - ABANDONED - Duration::from_secs(60))
            .unwrap();
        cache.put(Key::of(&[b"a"]), b"a").unwrap();
        cache.sweep();
        assert!(!old.exists() && new.exists());
    }

    #[test]
    fn writers_of_the_same_key_do_not_disturb_each_other() {
        let (_directory, cache) = cache();
        let cache = Arc::new(cache);
        let key = Key::of(&[b"a"]);
        cache.put(key, &[7; 100_000]).unwrap();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let cache = Arc::clone(&cache);
                std::thread::spawn(move || {
                    for _ in 0..50 {
                        cache.put(key, &[7; 100_000]).unwrap();
                        assert_eq!(cache.get(key).unwrap(), [7; 100_000]);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }

    #[test]
    fn what_is_reserved_is_waited_for() {
        let (directory, cache) = cache();
        let keys = [Key::of(&[b"a"]), Key::of(&[b"b"])];
        let held = cache.reserve(keys.into_iter());
        let root = directory.path().to_owned();
        let waiting = std::thread::spawn(move || {
            let cache = Cache::open(&root, DEFAULT_LIMIT).unwrap();
            let _held = cache.reserve(keys.into_iter().rev());
            cache.get(keys[0])
        });
        cache.put(keys[0], b"made").unwrap();
        drop(held);
        assert_eq!(waiting.join().unwrap().unwrap(), b"made");
    }

    #[test]
    fn a_place_where_nothing_can_be_written_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Cache::open(&file, DEFAULT_LIMIT).is_err());
    }
}
