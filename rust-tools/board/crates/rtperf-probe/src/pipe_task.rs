// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! One of the two processes of the pipe measurement, and what they share.

use crate::clock::Clock;
use crate::memory::relock;
use crate::pipe_switch::PipeSwitch;
use crate::task::Usage;
use crate::ust::{Emitter, Trace, Untraced};
use crate::{ProbeError, SampleBuffer};
use rtperf_record::Sample;
use std::cell::UnsafeCell;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};

const MESSAGE: usize = 200;

/// What both processes and their parent see. Every field is either atomic or
/// written by one task and read by the parent after that task has ended.
#[repr(C)]
pub(crate) struct Shared {
    /// The stamp at which the token was last sent.
    out: AtomicI64,
    end: AtomicBool,
    rounds_done: AtomicU32,
    failed: [AtomicBool; 2],
    messages: [UnsafeCell<[u8; MESSAGE]>; 2],
    usage: [UnsafeCell<(Usage, Usage)>; 2],
}

impl Shared {
    pub(crate) fn end(&self) {
        self.end.store(true, Ordering::Relaxed);
    }

    pub(crate) fn rounds_done(&self) -> u32 {
        self.rounds_done.load(Ordering::Relaxed)
    }

    /// The kernel's counts around a task's sampling loop, once it has ended.
    pub(crate) fn usage(&self, task: usize) -> (Usage, Usage) {
        // SAFETY: the task that writes this has ended.
        unsafe { *self.usage[task].get() }
    }

    /// What a task that gave up had to say, once it has ended.
    pub(crate) fn failure(&self) -> Option<ProbeError> {
        let task = (0..2).find(|i| self.failed[*i].load(Ordering::Acquire))?;
        // SAFETY: the task that writes this has ended.
        let message = unsafe { *self.messages[task].get() };
        let text = message.split(|b| *b == 0).next().unwrap_or(&[]);
        Some(ProbeError(String::from_utf8_lossy(text).into_owned()))
    }

    fn fail(&self, task: usize, why: &ProbeError) {
        let text = why.0.as_bytes();
        let n = text.len().min(MESSAGE - 1);
        // SAFETY: only this task writes its message, and nobody reads it yet.
        unsafe { (&mut *self.messages[task].get())[..n].copy_from_slice(&text[..n]) };
        self.failed[task].store(true, Ordering::Release);
    }
}

/// A [`Shared`] in memory that forked processes share.
pub(crate) struct SharedPage(*mut Shared);

impl SharedPage {
    pub(crate) fn new() -> Result<SharedPage, ProbeError> {
        // SAFETY: a new anonymous mapping; zeroes are a valid `Shared`.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                std::mem::size_of::<Shared>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
                -1,
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(ProbeError::os("no shared memory"));
        }
        Ok(SharedPage(at.cast()))
    }

    pub(crate) fn get(&self) -> &Shared {
        // SAFETY: mapped and valid until dropped; all changes are interior.
        unsafe { &*self.0 }
    }
}

impl Drop for SharedPage {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`.
        unsafe { libc::munmap(self.0.cast(), std::mem::size_of::<Shared>()) };
    }
}

/// A task's ends of the two pipes.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    task: u16,
    from: RawFd,
    to: RawFd,
}

impl Side {
    pub(crate) fn new(task: u16, from: &OwnedFd, to: &OwnedFd) -> Side {
        Side {
            task,
            from: from.as_raw_fd(),
            to: to.as_raw_fd(),
        }
    }

    pub(crate) fn uses(self, fd: RawFd) -> bool {
        fd == self.from || fd == self.to
    }

    /// Sends the token; `false` when the peer has gone.
    #[inline(always)]
    fn send(self) -> bool {
        let token = 0u8;
        // SAFETY: one byte is read from a valid address.
        unsafe { libc::write(self.to, (&token as *const u8).cast(), 1) == 1 }
    }

    /// Waits for the token; `false` when the peer has gone.
    #[inline(always)]
    fn receive(self) -> bool {
        let mut token = 0u8;
        // SAFETY: one byte is written to a valid address.
        unsafe { libc::read(self.from, (&mut token as *mut u8).cast(), 1) == 1 }
    }
}

/// The life of a task process. Does not return.
pub(crate) fn run_task(
    plan: &PipeSwitch,
    side: Side,
    samples: &SampleBuffer,
    shared: &Shared,
    trace: Option<&Emitter>,
) -> ! {
    let task = side.task as usize;
    let status = match set_up(plan, task) {
        Ok(()) => {
            samples.touch();
            task_body(plan, side, samples.start_ptr(), shared, trace);
            0
        }
        Err(why) => {
            shared.fail(task, &why);
            1
        }
    };
    // SAFETY: ends this forked process without running the parent's exit
    // handlers; the parent finds everything in the shared page.
    unsafe { libc::_exit(status) }
}

fn set_up(plan: &PipeSwitch, task: usize) -> Result<(), ProbeError> {
    // SAFETY: plain system calls. The task dies with its parent, and leaves
    // signals from the terminal to it. A write to a peer that has gone must
    // be an error, not a signal.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    relock()?;
    plan.tasks[task].apply()
}

fn task_body(
    plan: &PipeSwitch,
    side: Side,
    samples: *mut Sample,
    shared: &Shared,
    trace: Option<&Emitter>,
) {
    if let Some(emitter) = trace {
        emitter.prepare();
    }
    let clock = plan.clock;
    let warm = pass_token(clock, side, plan.warm_up, samples, shared, &Untraced);
    if warm < plan.warm_up {
        return;
    }
    let before = Usage::now();
    let done = match trace {
        Some(emitter) => pass_token(clock, side, plan.rounds, samples, shared, emitter),
        None => pass_token(clock, side, plan.rounds, samples, shared, &Untraced),
    };
    if side.task == 1 && done == plan.rounds {
        // The last sample is task 0's. It must find this task blocked, as every
        // other sample does, and not wait for it to take its counts and die.
        // Nothing is sent any more: the wait ends when task 0 has ended.
        side.receive();
    }
    let after = Usage::now();
    // SAFETY: only this task writes its own entry.
    unsafe { *shared.usage[side.task as usize].get() = (before, after) };
    if side.task == 0 {
        shared.rounds_done.store(done, Ordering::Relaxed);
    }
}

/// The sampling loop of either side; returns the rounds it finished. Task 0
/// begins each round; hand-off 2r goes to task 1, hand-off 2r + 1 back.
#[inline(never)]
fn pass_token(
    clock: Clock,
    side: Side,
    rounds: u32,
    samples: *mut Sample,
    shared: &Shared,
    trace: &impl Trace,
) -> u32 {
    // Each side has its own copy of the loop for each clock, traced and
    // untraced, so that the choice is not made between two stamps.
    macro_rules! pass_with {
        ($clock:ident) => {{
            let stamp = || Clock::$clock.stamp();
            pass(stamp, side, rounds, samples, shared, trace)
        }};
    }
    match clock {
        Clock::Monotonic => pass_with!(Monotonic),
        Clock::Raw => pass_with!(Raw),
        Clock::Counter => pass_with!(Counter),
        Clock::Gettimeofday => pass_with!(Gettimeofday),
    }
}

#[inline(always)]
fn pass(
    stamp: impl Fn() -> i64,
    side: Side,
    rounds: u32,
    samples: *mut Sample,
    shared: &Shared,
    trace: &impl Trace,
) -> u32 {
    let begins = side.task == 0;
    for round in 0..rounds {
        if begins {
            if shared.end.load(Ordering::Relaxed) {
                return round;
            }
            // Before the stamp: outside the interval that it begins.
            trace.round_start(side.task, round);
            shared.out.store(stamp(), Ordering::Relaxed);
            if !side.send() {
                return round;
            }
        }
        if !side.receive() {
            return round;
        }
        let now = stamp();
        let sample = Sample {
            time_ns: now,
            latency_ns: now - shared.out.load(Ordering::Relaxed),
            round,
            task: side.task,
            ..Sample::default()
        };
        let index = round as usize * 2 + usize::from(begins);
        // SAFETY: the buffer has two entries for each round, and only this
        // task writes entries of this parity.
        unsafe { samples.add(index).write(sample) };
        trace.handoff(&sample);
        if !begins {
            shared.out.store(stamp(), Ordering::Relaxed);
            if !side.send() {
                return round;
            }
        }
    }
    rounds
}
