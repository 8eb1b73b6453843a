// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Locking and prefaulting memory.

use crate::ProbeError;

/// Stack that a task of a measurement gets. mlockall locks a whole stack, so
/// the customary 8 MiB would be resident per task.
pub const TASK_STACK: usize = 64 * 1024;

/// How much of it is touched before the first sample.
const PREFAULT: usize = 32 * 1024;

/// Locks all present and future memory of the process and keeps the
/// allocator from giving memory back and from opening arenas per thread.
pub fn lock_memory() -> Result<(), ProbeError> {
    #[cfg(target_env = "gnu")]
    // SAFETY: mallopt only sets parameters of the allocator.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_TRIM_THRESHOLD, -1);
    }
    relock()
}

/// Locks what is mapped now and in future. A forked task calls it again:
/// locks are not inherited, and its writable pages are shared copy-on-write
/// until this populates them.
pub(crate) fn relock() -> Result<(), ProbeError> {
    // SAFETY: no memory changes its contents.
    if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } != 0 {
        return Err(ProbeError::os(
            "memory cannot be locked (run as root, or raise the memlock limit)",
        ));
    }
    Ok(())
}

/// Touches the stack below the caller, so that no loop faults it in.
#[inline(never)]
pub(crate) fn prefault_stack() {
    let mut room = [0u8; PREFAULT];
    for at in (0..PREFAULT).step_by(4096) {
        // SAFETY: `at` is within the array; volatile keeps the write.
        unsafe { std::ptr::write_volatile(&mut room[at], 1) };
    }
    std::hint::black_box(&room);
}
