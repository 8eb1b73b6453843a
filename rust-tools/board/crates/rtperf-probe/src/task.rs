// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tasks: pinning, policy, and what the kernel says of them afterwards.

use crate::memory::prefault_stack;
use crate::{CountingAllocator, ProbeError};
use rtperf_record::TaskRecord;

/// Scheduling policy of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Fifo,
    RoundRobin,
}

impl Policy {
    pub fn name(self) -> &'static str {
        match self {
            Policy::Fifo => "fifo",
            Policy::RoundRobin => "rr",
        }
    }

    fn number(self) -> libc::c_int {
        match self {
            Policy::Fifo => libc::SCHED_FIFO,
            Policy::RoundRobin => libc::SCHED_RR,
        }
    }
}

/// How a task is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskSetup {
    pub cpu: u32,
    pub policy: Policy,
    /// 1 to 99.
    pub priority: i32,
}

impl TaskSetup {
    /// Makes the calling thread that task, and checks that the kernel agrees.
    pub fn apply(self) -> Result<(), ProbeError> {
        pin(self.cpu)?;
        let param = libc::sched_param {
            sched_priority: self.priority,
        };
        // SAFETY: `param` is valid; 0 is the calling thread.
        if unsafe { libc::sched_setscheduler(0, self.policy.number(), &param) } != 0 {
            let error = std::io::Error::last_os_error();
            return Err(ProbeError(match error.raw_os_error() {
                Some(libc::EPERM) => format!(
                    "no permission for SCHED_{} priority {} (run as root, or grant CAP_SYS_NICE)",
                    self.policy.name().to_uppercase(),
                    self.priority
                ),
                _ => format!(
                    "SCHED_{} priority {} is refused: {error}",
                    self.policy.name().to_uppercase(),
                    self.priority
                ),
            }));
        }
        self.check()?;
        prefault_stack();
        Ok(())
    }

    /// Reads CPU, policy and priority back from the kernel.
    fn check(self) -> Result<(), ProbeError> {
        let mut param = libc::sched_param { sched_priority: 0 };
        // SAFETY: `param` is valid; 0 is the calling thread.
        let (policy, cpu) = unsafe {
            libc::sched_getparam(0, &mut param);
            (libc::sched_getscheduler(0), libc::sched_getcpu())
        };
        let policy = policy & !libc::SCHED_RESET_ON_FORK;
        if policy != self.policy.number() || param.sched_priority != self.priority {
            return Err(ProbeError(format!(
                "asked for policy {} priority {}, the kernel runs the task as {policy} priority {}",
                self.policy.number(),
                self.priority,
                param.sched_priority
            )));
        }
        if cpu != self.cpu as libc::c_int {
            return Err(ProbeError(format!(
                "pinned to CPU {}, the task runs on {cpu}",
                self.cpu
            )));
        }
        Ok(())
    }

    /// The task's entry in the run, from readings around its sampling loop.
    pub(crate) fn record(self, task: u16, before: Usage, after: Usage) -> TaskRecord {
        TaskRecord {
            task,
            cpu: self.cpu,
            policy: self.policy.name().to_owned(),
            priority: self.priority,
            minor_faults: after.minor_faults - before.minor_faults,
            major_faults: after.major_faults - before.major_faults,
            allocations: after.allocations - before.allocations,
            voluntary_switches: after.voluntary - before.voluntary,
            involuntary_switches: after.involuntary - before.involuntary,
        }
    }
}

/// Tries a set-up on a thread of its own: whether tasks like it can run.
pub fn check_task(setup: TaskSetup) -> Result<(), ProbeError> {
    let run = std::thread::Builder::new().stack_size(crate::memory::TASK_STACK);
    let thread = run
        .spawn(move || setup.apply())
        .map_err(|e| ProbeError(format!("no thread can be started: {e}")))?;
    thread
        .join()
        .unwrap_or_else(|_| Err(ProbeError("a task could not be tried".into())))
}

/// Pins the calling thread to one CPU.
pub(crate) fn pin(cpu: u32) -> Result<(), ProbeError> {
    if cpu >= libc::CPU_SETSIZE as u32 {
        return Err(ProbeError(format!("CPU {cpu} is out of range")));
    }
    // SAFETY: a zeroed set is valid and `cpu` is below its size.
    let failed = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu as usize, &mut set);
        libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set) != 0
    };
    if failed {
        return Err(ProbeError::os(&format!(
            "CPU {cpu} is not online, or this process may not use it"
        )));
    }
    Ok(())
}

/// CPUs that this process may run on, in order.
pub fn online_cpus() -> Result<Vec<u32>, ProbeError> {
    // SAFETY: the set is valid and filled by the call.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, std::mem::size_of_val(&set), &mut set) != 0 {
            return Err(ProbeError::os("the CPUs cannot be listed"));
        }
        let all = 0..libc::CPU_SETSIZE as u32;
        Ok(all.filter(|c| libc::CPU_ISSET(*c as usize, &set)).collect())
    }
}

/// What the kernel has counted for the calling thread.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Usage {
    minor_faults: u64,
    major_faults: u64,
    voluntary: u64,
    involuntary: u64,
    allocations: u64,
}

impl Usage {
    pub(crate) fn now() -> Usage {
        // SAFETY: a zeroed rusage is valid and filled by the call.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
            usage
        };
        Usage {
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
            allocations: CountingAllocator::allocations(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_outside_fifo_are_refused_by_the_kernel_not_replaced() {
        let cpu = online_cpus().unwrap()[0];
        for priority in [0, 100] {
            let policy = Policy::Fifo;
            let e = check_task(TaskSetup {
                cpu,
                policy,
                priority,
            })
            .unwrap_err();
            assert!(e.0.contains(&format!("priority {priority}")), "{e}");
        }
    }

    #[test]
    fn a_missing_cpu_is_named() {
        let policy = Policy::Fifo;
        for cpu in [1_000, 1_000_000] {
            let e = check_task(TaskSetup {
                cpu,
                policy,
                priority: 1,
            })
            .unwrap_err();
            assert!(e.0.contains(&cpu.to_string()), "{e}");
        }
    }
}
