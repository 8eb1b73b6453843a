// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Running LTTng's commands, none of which is trusted to come to an end.

use rtperf_probe::stop;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long any one command may take, and the daemon to come up: a slow board
/// loads some modules and writes some megabytes in it.
const PATIENCE: Duration = Duration::from_secs(60);

/// LTTng's commands on this board.
pub struct Tools {
    pub lttng: PathBuf,
    pub sessiond: PathBuf,
    /// For what they say and keep.
    pub folder: PathBuf,
    pub patience: Duration,
}

/// What a command that ended by itself has said.
pub struct Said {
    name: String,
    pub status: ExitStatus,
    text: String,
}

impl Tools {
    /// Those in PATH, if LTTng is installed.
    pub fn find() -> Option<Tools> {
        let path = std::env::var_os("PATH")?;
        let find = |name: &str| {
            let mut all = std::env::split_paths(&path).map(|folder| folder.join(name));
            all.find(|file| file.is_file())
        };
        let lttng = find("lttng")?;
        let beside = || lttng.with_file_name("lttng-sessiond");
        Some(Tools {
            sessiond: find("lttng-sessiond").unwrap_or_else(beside),
            lttng,
            folder: run_time_folder().join("lttng"),
            patience: PATIENCE,
        })
    }

    /// Makes the folder and tells LTTng of it, the library of user-space events
    /// in this process as well: a home folder may be missing or read-only.
    pub fn prepare(&self) -> Result<(), String> {
        let made = std::fs::create_dir_all(&self.folder);
        made.map_err(|e| format!("{} cannot be made: {e}", self.folder.display()))?;
        std::env::set_var("LTTNG_HOME", &self.folder);
        Ok(())
    }

    /// Runs `lttng`; a signal or the deadline ends it.
    pub fn lttng(&self, arguments: &[&str]) -> Result<Said, String> {
        self.finish(arguments, stop)
    }

    /// Runs `lttng` even when the run is to end: it is what ends the session.
    pub fn lttng_anyway(&self, arguments: &[&str]) -> Result<Said, String> {
        self.finish(arguments, || false)
    }

    fn finish(&self, arguments: &[&str], give_up: fn() -> bool) -> Result<Said, String> {
        let verb = arguments.iter().find(|a| !matches!(**a, "--mi" | "xml"));
        let name = format!("lttng {}", verb.unwrap_or(&""));
        let words = Words::new(self, "command");
        let mut command = Command::new(&self.lttng);
        // Never a daemon of its own: it would load every probe there is.
        command.arg("--no-sessiond").args(arguments);
        let mut child = start(&mut command, &name, &words)?;
        let status = wait(&mut child, self.patience, give_up).map_err(|e| match e {
            Unfinished::Failed(e) => format!("{name} cannot be waited for: {e}"),
            Unfinished::Late => format!("{name} did not end within {} s", self.patience.as_secs()),
            Unfinished::GivenUp => format!("{name} was given up, as the run was to end"),
        })?;
        Ok(Said {
            name,
            status,
            text: words.text(),
        })
    }
}

/// Root's, else the user's own.
fn run_time_folder() -> PathBuf {
    // SAFETY: a plain system call without preconditions.
    let root = unsafe { libc::geteuid() } == 0;
    let own = std::env::var_os("XDG_RUNTIME_DIR").filter(|_| !root);
    own.map_or("/run".into(), PathBuf::from).join("rtperf")
}

impl Said {
    /// The text, if the command did what it was to do.
    pub fn done(self) -> Result<String, String> {
        if self.status.success() {
            return Ok(self.text);
        }
        let why = complaint(&self.text).unwrap_or_else(|| self.status.to_string());
        Err(format!("{}: {why}", self.name))
    }
}

/// The last error that a text tells of, else its last line.
pub fn complaint(text: &str) -> Option<String> {
    const MOST: usize = 200;
    let mut lines = text.lines().map(str::trim).rev().filter(|l| !l.is_empty());
    let last = lines.clone().next()?;
    let line = lines
        .find_map(|l| l.strip_prefix("Error: "))
        .unwrap_or(last);
    let line = line.trim_end_matches('.').chars();
    Some(line.filter(|c| !c.is_control()).take(MOST).collect())
}

/// A file for what a command says. Not a pipe, which a hanging child of the
/// command would keep open.
pub struct Words(PathBuf);

impl Words {
    pub fn new(tools: &Tools, of: &str) -> Words {
        let name = format!("{of}-{}", std::process::id());
        Words(tools.folder.join(name))
    }

    pub fn text(&self) -> String {
        const MOST: u64 = 1 << 20;
        let mut bytes = Vec::new();
        // What cannot be read is as good as nothing said.
        let _ = File::open(&self.0).map(|file| file.take(MOST).read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // It lies in memory; leaving it would harm nobody.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Starts a program in a process group of its own, away from the terminal's
/// Ctrl-C: sessions are ended in order.
pub fn start(command: &mut Command, name: &str, words: &Words) -> Result<Child, String> {
    let file = File::create(&words.0).and_then(|file| Ok((file.try_clone()?, file)));
    let (out, err) = file.map_err(|e| format!("{} cannot be written: {e}", words.0.display()))?;
    command.stdin(Stdio::null()).stdout(out).stderr(err);
    let child = command.process_group(0).spawn();
    child.map_err(|e| format!("{name} cannot be run: {e}"))
}

/// Why a program was not waited for to its end.
pub enum Unfinished {
    Failed(std::io::Error),
    Late,
    GivenUp,
}

/// Waits for a program; one that does not end is killed with all that it
/// started.
pub fn wait(
    child: &mut Child,
    patience: Duration,
    give_up: fn() -> bool,
) -> Result<ExitStatus, Unfinished> {
    let end = Instant::now() + patience;
    let why = loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Err(e) => break Unfinished::Failed(e),
            Ok(None) if give_up() => break Unfinished::GivenUp,
            Ok(None) if Instant::now() >= end => break Unfinished::Late,
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    signal(child, libc::SIGKILL);
    // Killed, it ends.
    let _ = child.wait();
    Err(why)
}

/// Sends a signal to a program that has not been waited for, and its group.
pub fn signal(child: &Child, signal: libc::c_int) {
    // SAFETY: a plain system call; `start` made the child its group's leader,
    // and until it is waited for the number is not given to another.
    unsafe { libc::kill(-(child.id() as libc::pid_t), signal) };
}
