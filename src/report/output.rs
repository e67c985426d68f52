//! Writing a run's files: all of them or none. The only part of the reports that touches the
//! file system.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::ReportError;

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Its name inside the results directory.
    pub name: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

impl OutputFile {
    /// A text file.
    pub fn text(name: &str, text: String) -> OutputFile {
        OutputFile {
            name: name.to_string(),
            bytes: text.into_bytes(),
        }
    }
}

/// A directory that holds this file was written by a run.
const MARK: &str = "run.json";

/// Temporary directories of this process. Renames happen under the lock, so that
/// [`abandon_writes`] never acts between two of them.
static TEMPORARIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes what is half-written: for a signal handler that is about to end the process. Waits
/// for a swap that is under way.
pub fn abandon_writes() {
    for path in temporaries().drain(..) {
        // Nothing can be done about a failure: the process ends.
        let _ = fs::remove_dir_all(path);
    }
}

fn temporaries() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    // The list is whole even if a thread panicked while it held the lock.
    TEMPORARIES
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ReportError {
    let path = path.to_path_buf();
    move |source| ReportError::Io {
        action,
        path,
        source,
    }
}

/// Checks, before a long run, that its results could be written to `target`.
///
/// # Errors
/// Those of [`write_dir`] that can be foreseen. Leaves the file system as it was.
pub fn check_target(target: &Path) -> Result<(), ReportError> {
    let place = Place::new(target)?;
    let temporary = Temporary::create(&place)?;
    drop(temporary);
    Ok(())
}

/// Writes `files` into the directory `target`, which may not exist, may be empty, or may hold
/// the results of an earlier run: these are replaced as a whole.
///
/// # Errors
/// [`ReportError`]. Except for [`ReportError::OldLeft`], `target` is then as it was and nothing
/// else remains. A process killed between the two renames leaves the earlier results whole in
/// `.NAME.old-PID` beside `target`.
pub fn write_dir(target: &Path, files: &[OutputFile]) -> Result<Vec<PathBuf>, ReportError> {
    let place = Place::new(target)?;
    let temporary = Temporary::create(&place)?;
    for file in files {
        let path = temporary.path.join(&file.name);
        // The user knows the file by the name it will have.
        let known = target.join(&file.name);
        let mut handle = File::create_new(&path).map_err(io("create", &known))?;
        handle.write_all(&file.bytes).map_err(io("write", &known))?;
        // A full or remote disk may report its error only here.
        handle.sync_all().map_err(io("write", &known))?;
    }
    temporary.swap_in(&place)?;
    Ok(files.iter().map(|f| target.join(&f.name)).collect())
}

/// Where results go: `parent/name`, symbolic links followed.
struct Place {
    target: PathBuf,
    parent: PathBuf,
    name: String,
}

impl Place {
    fn new(target: &Path) -> Result<Place, ReportError> {
        // A link to a directory stays a link: what it points to is replaced.
        let resolved = match fs::canonicalize(target) {
            Ok(path) => path,
            Err(e) if e.kind() == ErrorKind::NotFound => target.to_path_buf(),
            Err(e) if e.kind() == ErrorKind::NotADirectory => target.to_path_buf(),
            Err(e) => return Err(io("open", target)(e)),
        };
        let unnamed = || ReportError::TargetUnnamed(target.to_path_buf());
        let name = resolved
            .file_name()
            .ok_or_else(unnamed)?
            .to_string_lossy()
            .into_owned();
        let parent = match resolved.parent() {
            Some(p) if !p.as_os_str().is_empty() => p.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let place = Place {
            target: resolved,
            parent,
            name,
        };
        place.check()?;
        Ok(place)
    }

    /// Whether the target may be replaced.
    fn check(&self) -> Result<(), ReportError> {
        match fs::symlink_metadata(&self.target) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            Err(e) if e.kind() == ErrorKind::NotADirectory => {
                return Err(self.file_in_the_way(e));
            }
            Err(e) => return Err(io("open", &self.target)(e)),
            Ok(meta) if !meta.is_dir() => {
                return Err(ReportError::TargetIsFile(self.target.clone()));
            }
            Ok(_) => {}
        }
        let mut entries = fs::read_dir(&self.target).map_err(io("read", &self.target))?;
        if entries.next().is_none() || self.target.join(MARK).is_file() {
            return Ok(());
        }
        Err(ReportError::TargetNotOurs(self.target.clone()))
    }

    fn file_in_the_way(&self, error: io::Error) -> ReportError {
        let file = self.target.ancestors().skip(1).find(|p| p.is_file());
        match file {
            Some(path) => ReportError::TargetIsFile(path.to_path_buf()),
            None => io("open", &self.target)(error),
        }
    }

    /// A name beside the target that is not taken.
    fn beside(&self, what: &str) -> PathBuf {
        let pid = std::process::id();
        let names = std::iter::once(String::new()).chain((1u32..).map(|n| format!("-{n}")));
        let mut paths = names.map(|n| self.parent.join(format!(".{}.{what}-{pid}{n}", self.name)));
        paths
            .find(|p| fs::symlink_metadata(p).is_err())
            .unwrap_or_default()
    }
}

/// A directory that is removed unless it becomes the target, with the parents made for it.
struct Temporary {
    path: PathBuf,
    made_parents: Vec<PathBuf>,
    done: bool,
}

impl Temporary {
    fn create(place: &Place) -> Result<Temporary, ReportError> {
        let mut temporary = Temporary {
            path: PathBuf::new(),
            made_parents: Vec::new(),
            done: false,
        };
        let missing = place
            .parent
            .ancestors()
            .take_while(|p| !p.as_os_str().is_empty() && fs::symlink_metadata(p).is_err());
        for parent in missing.collect::<Vec<_>>().into_iter().rev() {
            match fs::create_dir(parent) {
                Ok(()) => temporary.made_parents.push(parent.to_path_buf()),
                // Another run made it meanwhile.
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(io("create", parent)(e)),
            }
        }
        // Threads of one process may race for a name: the loser takes the next one.
        let path = loop {
            let path = place.beside("tmp");
            match fs::create_dir(&path) {
                Ok(()) => break path,
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(io("create a directory in", &place.parent)(e)),
            }
        };
        temporaries().push(path.clone());
        temporary.path = path;
        Ok(temporary)
    }

    /// Renames this directory to the target and removes what was there.
    fn swap_in(mut self, place: &Place) -> Result<(), ReportError> {
        let old = {
            let mut list = temporaries();
            let old = self.rename(place)?;
            list.retain(|p| *p != self.path);
            self.done = true;
            old
        };
        match old.map(|path| (fs::remove_dir_all(&path), path)) {
            Some((Err(source), path)) => Err(ReportError::OldLeft { path, source }),
            _ => Ok(()),
        }
    }

    /// Returns where the earlier results were moved to, if there were any.
    fn rename(&self, place: &Place) -> Result<Option<PathBuf>, ReportError> {
        let target = &place.target;
        let old = place.beside("old");
        // What is there may have changed since the start.
        place.check()?;
        let moved = match fs::rename(target, &old) {
            Ok(()) => true,
            Err(e) if e.kind() == ErrorKind::NotFound => false,
            Err(e) => return Err(io("replace", target)(e)),
        };
        if let Err(error) = fs::rename(&self.path, target) {
            if moved {
                fs::rename(&old, target)
                    .map_err(|source| ReportError::OldLeft { path: old, source })?;
            }
            return Err(io("write", target)(error));
        }
        Ok(moved.then_some(old))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        if !self.path.as_os_str().is_empty() {
            // The error that brought us here matters more than a failure to clean up.
            let _ = fs::remove_dir_all(&self.path);
            temporaries().retain(|p| *p != self.path);
        }
        for parent in self.made_parents.iter().rev() {
            // Only if still empty: another run may have put its results there.
            let _ = fs::remove_dir(parent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(text: &str) -> Vec<OutputFile> {
        ["run.json", "summary.csv"]
            .map(|n| OutputFile::text(n, text.to_string()))
            .to_vec()
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn results_replace_earlier_results_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a/b/run");
        let mut first = files("one");
        first.push(OutputFile::text("extra.png", "x".into()));
        write_dir(&target, &first).unwrap();
        let paths = write_dir(&target, &files("two")).unwrap();
        assert_eq!(paths[1], target.join("summary.csv"));
        assert_eq!(fs::read_to_string(&paths[1]).unwrap(), "two");
        assert_eq!(names(&target), ["run.json", "summary.csv"]);
        assert_eq!(names(target.parent().unwrap()), ["run"]);
    }

    #[test]
    fn a_failed_write_leaves_earlier_results_and_no_litter() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("run");
        write_dir(&target, &files("one")).unwrap();
        let mut bad = files("two");
        bad.push(OutputFile::text("no/such/dir.png", "x".into()));
        let error = write_dir(&target, &bad).unwrap_err();
        assert!(
            matches!(
                error,
                ReportError::Io {
                    action: "create",
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(
            fs::read_to_string(target.join("summary.csv")).unwrap(),
            "one"
        );
        assert_eq!(names(dir.path()), ["run"]);
        // The same without earlier results, and with parents that were made for it.
        write_dir(&dir.path().join("x/y/z"), &bad).unwrap_err();
        assert_eq!(names(dir.path()), ["run"]);
    }

    #[test]
    fn foreign_directories_and_files_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("home");
        fs::create_dir(&target).unwrap();
        write_dir(&target, &files("into an empty directory")).unwrap();
        let foreign = dir.path().join("foreign");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("thesis.tex"), "years").unwrap();
        let error = write_dir(&foreign, &files("x")).unwrap_err();
        assert!(
            error.to_string().contains("holds files but no run.json"),
            "{error}"
        );
        assert!(check_target(&foreign).is_err());
        let file = dir.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(
            write_dir(&file, &files("x"))
                .unwrap_err()
                .to_string()
                .contains("is a file")
        );
        let below = write_dir(&file.join("run"), &files("x")).unwrap_err();
        assert!(below.to_string().contains("is a file"), "{below}");
        assert!(matches!(
            check_target(Path::new("/")),
            Err(ReportError::TargetNotOurs(_) | ReportError::TargetUnnamed(_))
        ));
        assert_eq!(names(dir.path()), ["file", "foreign", "home"]);
    }

    #[test]
    fn checking_a_target_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        check_target(&dir.path().join("a/b/c")).unwrap();
        assert_eq!(names(dir.path()), Vec::<String>::new());
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        write_dir(&real, &files("one")).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_dir(&link, &files("two")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(real.join("run.json")).unwrap(), "two");
    }

    #[test]
    fn simultaneous_writers_leave_one_whole_result() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("run");
        std::thread::scope(|scope| {
            for text in ["one", "two", "three"] {
                let target = &target;
                // A loser of the race may get an error, never a mixture.
                scope.spawn(move || write_dir(target, &files(text)).ok());
            }
        });
        let read = |name: &str| fs::read_to_string(target.join(name)).unwrap();
        assert_eq!(read("run.json"), read("summary.csv"));
        assert_eq!(names(dir.path()), ["run"]);
    }
}
