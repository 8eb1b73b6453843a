// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The processor's free-running counter, where user space may read it.

use crate::clock::now_ns;

/// Counter steps per second and where that number comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frequency {
    pub hz: f64,
    pub source: &'static str,
}

/// The counter, read after everything before it has finished: TSC,
/// CNTVCT_EL0 or the RISC-V time CSR. `None` on other processors.
#[inline(always)]
pub fn read_counter() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: both instructions exist on every x86-64 processor. The
        // fence keeps the read from moving up before the measured code.
        Some(unsafe {
            core::arch::x86_64::_mm_lfence();
            core::arch::x86_64::_rdtsc()
        })
    }
    #[cfg(target_arch = "aarch64")]
    {
        let count: u64;
        // SAFETY: Linux lets EL0 read the virtual counter; ISB keeps the read
        // from being speculated early (Arm ARM, D12.1.2).
        unsafe { core::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) count, options(nostack)) };
        Some(count)
    }
    #[cfg(target_arch = "riscv64")]
    {
        let count: u64;
        // SAFETY: the time CSR is part of Zicntr, which Linux requires.
        unsafe { core::arch::asm!("fence", "rdtime {}", out(reg) count, options(nostack)) };
        Some(count)
    }
    #[cfg(not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )))]
    {
        None
    }
}

/// The counter's frequency: from the architecture where it says, else
/// calibrated against CLOCK_MONOTONIC_RAW for 100 ms.
pub fn counter_frequency() -> Option<Frequency> {
    read_counter()?;
    architectural().or_else(calibrated)
}

#[cfg(target_arch = "aarch64")]
fn architectural() -> Option<Frequency> {
    let hz: u64;
    // SAFETY: CNTFRQ_EL0 is readable wherever CNTVCT_EL0 is.
    unsafe { core::arch::asm!("mrs {}, cntfrq_el0", out(reg) hz, options(nomem, nostack)) };
    (hz > 0).then_some(Frequency {
        hz: hz as f64,
        source: "cntfrq_el0",
    })
}

#[cfg(target_arch = "x86_64")]
fn architectural() -> Option<Frequency> {
    use core::arch::x86_64::__cpuid;
    // SAFETY: CPUID exists on every x86-64 processor. (Recent compilers know,
    // and call the block needless.)
    #[allow(unused_unsafe)]
    let leaf = |n| unsafe { __cpuid(n) };
    if leaf(0).eax >= 0x15 {
        // Intel SDM vol. 2A, CPUID leaf 15H: crystal Hz × numerator / denominator.
        let tsc = leaf(0x15);
        if tsc.eax != 0 && tsc.ebx != 0 && tsc.ecx != 0 {
            let hz = f64::from(tsc.ecx) * f64::from(tsc.ebx) / f64::from(tsc.eax);
            return Some(Frequency {
                hz,
                source: "cpuid 15h",
            });
        }
    }
    // Hypervisors that follow VMware's timing leaf give the TSC in kHz.
    let hypervised = leaf(1).ecx & (1 << 31) != 0;
    if hypervised && leaf(0x4000_0000).eax >= 0x4000_0010 {
        let khz = leaf(0x4000_0010).eax;
        if khz > 0 {
            return Some(Frequency {
                hz: f64::from(khz) * 1e3,
                source: "cpuid 40000010h",
            });
        }
    }
    None
}

#[cfg(target_arch = "riscv64")]
fn architectural() -> Option<Frequency> {
    let bytes = std::fs::read("/proc/device-tree/cpus/timebase-frequency").ok()?;
    let hz = match bytes.len() {
        4 => u64::from(u32::from_be_bytes(bytes.try_into().ok()?)),
        8 => u64::from_be_bytes(bytes.try_into().ok()?),
        _ => 0,
    };
    (hz > 0).then_some(Frequency {
        hz: hz as f64,
        source: "timebase-frequency",
    })
}

#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64"
)))]
fn architectural() -> Option<Frequency> {
    None
}

fn calibrated() -> Option<Frequency> {
    let raw = || now_ns(libc::CLOCK_MONOTONIC_RAW);
    let (t0, c0) = (raw(), read_counter()?);
    while raw() - t0 < 100_000_000 {}
    let (t1, c1) = (raw(), read_counter()?);
    let hz = c1.wrapping_sub(c0) as f64 * 1e9 / (t1 - t0) as f64;
    (hz > 0.0).then_some(Frequency {
        hz,
        source: "calibrated",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_frequency_is_the_measured_one() {
        let (Some(stated), Some(measured)) = (counter_frequency(), calibrated()) else {
            return;
        };
        let ratio = stated.hz / measured.hz;
        assert!((0.98..1.02).contains(&ratio), "{stated:?} {measured:?}");
    }
}
