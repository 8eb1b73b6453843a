// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Events of the sampling loops in an LTTng user-space trace: round starts,
//! hand-offs and samples over a bound.
//!
//! LTTng-UST comes in only through a shared object that is loaded when a pass
//! asks for it, so that a board without LTTng runs the same program. A loop
//! that is not traced is compiled without any of this: see [`Trace`].

mod provider;

use crate::{ProbeError, ToMonotonic};
use provider::Provider;
use rtperf_record::Sample;
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Where the package puts the provider.
pub const PROVIDER: &str = "/usr/lib/rtperf/librtperf-ust.so";

/// Names another provider, for tests.
pub const PROVIDER_VARIABLE: &str = "RTPERF_UST";

/// What the events of one result say besides the sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// The sample file's name without its ending.
    pub measurement: String,
    /// A sample above it gives an event of its own.
    pub bound_ns: Option<i64>,
}

static LOADED: OnceLock<Provider> = OnceLock::new();
static TRACED: Mutex<Vec<Target>> = Mutex::new(Vec::new());

#[derive(Debug, Clone)]
struct Target {
    measurement: Arc<CString>,
    bound_ns: i64,
}

/// Loads the provider into this process, for good. liblttng-ust starts two
/// threads of its own, so this belongs after every pass whose figures count.
/// Where a session daemon runs, it knows of this process on return.
pub fn load() -> Result<(), ProbeError> {
    if LOADED.get().is_some() {
        return Ok(());
    }
    let named = std::env::var_os(PROVIDER_VARIABLE);
    let provider = Provider::open(named.as_deref().unwrap_or(PROVIDER.as_ref()))?;
    // A second caller that was quicker has loaded the same.
    let _ = LOADED.set(provider);
    Ok(())
}

/// Makes the measurements from now on emit events, if the provider is loaded;
/// one entry for each result that the measurement will bring, in their order.
pub fn activate(traced: &[Traced]) -> Result<(), ProbeError> {
    let target = |t: &Traced| {
        let measurement = CString::new(t.measurement.as_str())
            .map_err(|_| ProbeError(format!("{:?} is no measurement's name", t.measurement)))?;
        Ok(Target {
            measurement: Arc::new(measurement),
            bound_ns: t.bound_ns.unwrap_or(i64::MAX),
        })
    };
    let targets: Result<Vec<Target>, ProbeError> = traced.iter().map(target).collect();
    *lock() = targets?;
    Ok(())
}

/// The measurements from now on emit nothing.
pub fn deactivate() {
    lock().clear();
}

/// Whether a measurement started now would emit events.
pub fn active() -> bool {
    LOADED.get().is_some() && !lock().is_empty()
}

/// A list of targets is whole whatever a panicking holder did to it.
fn lock() -> MutexGuard<'static, Vec<Target>> {
    TRACED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a sampling loop calls between its intervals, never between the two
/// stamps of one. A loop has one copy with [`Untraced`] and one with an
/// [`Emitter`], so that the untraced one pays nothing.
pub(crate) trait Trace {
    fn round_start(&self, task: u16, round: u32);
    /// A token has come to the sample's task.
    fn handoff(&self, sample: &Sample);
    /// A sample was taken that no hand-off ended.
    fn sample(&self, sample: &Sample);
}

/// Tracing left out: the calls compile to nothing.
pub(crate) struct Untraced;

impl Trace for Untraced {
    #[inline(always)]
    fn round_start(&self, _: u16, _: u32) {}
    #[inline(always)]
    fn handoff(&self, _: &Sample) {}
    #[inline(always)]
    fn sample(&self, _: &Sample) {}
}

/// The events of one sampling loop. Holds all that they need, so that the
/// loop neither locks nor allocates.
#[derive(Clone)]
pub(crate) struct Emitter {
    provider: &'static Provider,
    target: Target,
    /// Given where latencies are still in steps of the loop's clock.
    convert: Option<ToMonotonic>,
}

impl Emitter {
    /// The emitter for one result of the measurement; `None` when inactive.
    pub(crate) fn of(result: usize, convert: Option<ToMonotonic>) -> Option<Emitter> {
        Some(Emitter {
            provider: LOADED.get()?,
            target: lock().get(result)?.clone(),
            convert,
        })
    }

    /// Lets the calling thread's first event cost no more than the others.
    pub(crate) fn prepare(&self) {
        // SAFETY: the provider stays loaded; the call has no precondition.
        unsafe { (self.provider.init_thread)() };
    }

    fn latency_ns(&self, sample: &Sample) -> i64 {
        let ns = sample.latency_ns;
        self.convert.as_ref().map_or(ns, |c| c.interval_ns(ns))
    }

    fn bound(&self, sample: &Sample, latency_ns: i64) {
        let Target {
            measurement,
            bound_ns,
        } = &self.target;
        if latency_ns > *bound_ns {
            let name = measurement.as_ptr();
            // SAFETY: the provider stays loaded; `name` is a C string that
            // `self` keeps.
            unsafe {
                (self.provider.over_bound)(name, sample.task, sample.round, latency_ns, *bound_ns)
            };
        }
    }
}

impl Trace for Emitter {
    fn round_start(&self, task: u16, round: u32) {
        // SAFETY: the provider stays loaded; the name is a C string that
        // `self` keeps.
        unsafe { (self.provider.round_start)(self.target.measurement.as_ptr(), task, round) };
    }

    fn handoff(&self, sample: &Sample) {
        let latency_ns = self.latency_ns(sample);
        let name = self.target.measurement.as_ptr();
        // SAFETY: the provider stays loaded; `name` is a C string that `self`
        // keeps.
        unsafe { (self.provider.handoff)(name, sample.task, sample.round, latency_ns) };
        self.bound(sample, latency_ns);
    }

    fn sample(&self, sample: &Sample) {
        self.bound(sample, self.latency_ns(sample));
    }
}

/// fork(2), with the provider loaded such that the child is a traced process
/// of its own. Returns 0 in the child.
///
/// # Safety
/// The child may do only what a child of a process with several threads may.
/// (liblttng-ust starts threads in it before this returns: the C library's
/// fork leaves allocator and thread library usable.)
pub(crate) unsafe fn fork() -> Result<libc::pid_t, ProbeError> {
    let fork = || {
        // SAFETY: the caller's promise.
        let pid = unsafe { libc::fork() };
        let failed = (pid < 0).then(|| ProbeError::os("no process can be started"));
        failed.map_or(Ok(pid), Err)
    };
    let Some(provider) = LOADED.get() else {
        return fork();
    };
    // SAFETY: the provider stays loaded; `signals` is storage that the first
    // call fills, and each side makes its one of the other two calls.
    unsafe {
        let mut signals: libc::sigset_t = std::mem::zeroed();
        (provider.before_fork)(&mut signals);
        let pid = fork();
        match pid {
            Ok(0) => (provider.after_fork_child)(&mut signals),
            _ => (provider.after_fork_parent)(&mut signals),
        }
        pid
    }
}

#[cfg(test)]
mod tests;
