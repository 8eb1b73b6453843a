// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Ending early: signals and the deadline set one flag that every loop reads.

use crate::ProbeError;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

static CAUSE: AtomicI32 = AtomicI32::new(0);

/// Why the run is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// SIGINT, SIGTERM or SIGHUP.
    Signal,
    /// The time limit of [`stop_after`].
    Deadline,
}

extern "C" fn on_signal(signal: libc::c_int) {
    // Only the first cause counts.
    let _ = CAUSE.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
}

/// Whether loops are to end.
#[inline(always)]
pub fn stop() -> bool {
    CAUSE.load(Ordering::Relaxed) != 0
}

/// Why, if so.
pub fn stopped() -> Option<StopCause> {
    match CAUSE.load(Ordering::Relaxed) {
        0 => None,
        libc::SIGALRM => Some(StopCause::Deadline),
        _ => Some(StopCause::Signal),
    }
}

/// Catches the ending signals. System calls are interrupted, not restarted,
/// so that a waiting thread notices.
pub fn install_stop_signals() -> Result<(), ProbeError> {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGALRM] {
        // SAFETY: a zeroed sigaction is valid; the handler only stores to an
        // atomic, which is async-signal-safe.
        let failed = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut()) != 0
        };
        if failed {
            return Err(ProbeError::os("signals cannot be caught"));
        }
    }
    Ok(())
}

/// Sets the deadline of the whole run, from now.
pub fn stop_after(limit: Duration) {
    let seconds = limit.as_secs().clamp(1, u64::from(u32::MAX)) as libc::c_uint;
    // SAFETY: alarm only arms this process's timer.
    unsafe { libc::alarm(seconds) };
}

/// Keeps the ending signals away from the calling thread and those it starts:
/// a sampling thread must not run handlers.
pub fn block_signals_here() -> SignalsBlocked {
    // SAFETY: both sets are valid and filled by the calls.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        SignalsBlocked(before)
    }
}

/// Gives the thread its signals back when dropped.
pub struct SignalsBlocked(libc::sigset_t);

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        // SAFETY: the mask is the one that the thread had before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}
