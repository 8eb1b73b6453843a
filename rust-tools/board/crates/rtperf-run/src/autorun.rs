// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Unattended runs: settle, measure once an image, say so, finish.

use crate::cli::RunArgs;
use crate::execute::{self, Ended};
use crate::fault::{Fault, EXIT_INTERRUPTED};
use crate::plan::{Finish, Plan};
use crate::{plan, print_line};
use rtperf_board_facts::{identity, Root};
use rtperf_record::Trigger;
use serde::Deserialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// The whole unattended run; the exit status. Whatever happens, the console
/// gets its marker.
pub fn run(args: &RunArgs) -> u8 {
    let finish_word = kernel_word("rtperf.finish");
    let (finish, outcome) = match plan::load(&args.plan) {
        Ok(plan) => (plan.autorun.finish, attempt(&plan, args)),
        Err(fault) => (Finish::Stay, Err(fault)),
    };
    let finish = match finish_word.as_deref() {
        None => finish,
        Some("stay") => Finish::Stay,
        Some("poweroff") => Finish::Poweroff,
        Some("reboot") => Finish::Reboot,
        Some(other) => {
            crate::print_error(&format!(
                "rtperf.finish={other} on the kernel command line is unknown, \
                 use stay, poweroff or reboot; the plan's finish is used"
            ));
            finish
        }
    };
    let (exit, id, again) = match outcome {
        Ok(Some(ended)) => (ended.exit, ended.id, true),
        // Measured often enough on earlier boots: powering off again would
        // keep the board from ever starting.
        Ok(None) => (0, "none".to_owned(), false),
        Err(fault) => {
            crate::print_error(&fault.message);
            (fault.exit, "none".to_owned(), true)
        }
    };
    print_line(&format!("RTPERF-DONE status={exit} run={id}"));
    if again && exit != EXIT_INTERRUPTED {
        end_with(finish);
    }
    exit
}

fn attempt(plan: &Plan, args: &RunArgs) -> Result<Option<Ended>, Fault> {
    rtperf_probe::stop_after(Duration::from_nanos(plan.autorun.deadline as u64));
    settle(Duration::from_nanos(plan.autorun.settle as u64));
    let place = crate::find_place(args, Duration::from_secs(30))?;
    let image = identity::read(&Root::default()).image;
    let before = earlier_runs(place.path(), &image);
    if before >= plan.autorun.runs as usize {
        print_line(&format!(
            "image {image} has been measured on {before} of {} boots: nothing to do",
            plan.autorun.runs
        ));
        return Ok(None);
    }
    let ended = execute::run(plan, args, &place)?;
    place.close().map_err(Fault::unusable)?;
    Ok(Some(ended))
}

/// The part of a run.json that counting needs, of any format version. (To
/// read all of a `Run` would cost the board 60 kB of code.)
#[derive(Deserialize)]
struct Earlier {
    trigger: Trigger,
    identity: EarlierIdentity,
}

#[derive(Deserialize)]
struct EarlierIdentity {
    image: String,
}

/// Unattended runs of `image` that lie in `place`, finished or not: one that
/// crashed the board must not crash it at every boot.
fn earlier_runs(place: &Path, image: &str) -> usize {
    let Ok(entries) = std::fs::read_dir(place) else {
        return 0;
    };
    let is_earlier = |folder: &Path| {
        let text = std::fs::read_to_string(folder.join("run.json")).ok();
        let run: Option<Earlier> = text.and_then(|t| serde_json::from_str(&t).ok());
        run.is_some_and(|r| r.trigger == Trigger::Autorun && r.identity.image == image)
    };
    entries.flatten().filter(|e| is_earlier(&e.path())).count()
}

/// Waits until the CPUs have been nearly idle for three seconds and no
/// temperature moves by a degree a second, at most for `limit`.
fn settle(limit: Duration) {
    const CALM: u32 = 3;
    let start = Instant::now();
    let mut last = (cpu_times(), temperatures());
    let (mut calm, mut busy) = (0, 100);
    while calm < CALM && start.elapsed() < limit && !rtperf_probe::stop() {
        std::thread::sleep(Duration::from_secs(1));
        let now = (cpu_times(), temperatures());
        busy = busy_percent(last.0, now.0);
        let steady = last
            .1
            .iter()
            .zip(&now.1)
            .all(|(a, b)| a.abs_diff(*b) < 1_000);
        calm = if busy < 10 && steady { calm + 1 } else { 0 };
        last = now;
    }
    if calm < CALM {
        print_line(&format!(
            "the board has not come to rest within {} s (CPUs {busy} % busy): measuring anyway",
            limit.as_secs()
        ));
    }
}

/// (idle, all) ticks of all CPUs since boot.
fn cpu_times() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = first
        .split_whitespace()
        .skip(1)
        .take(8)
        .filter_map(|t| t.parse().ok())
        .collect();
    let idle = ticks.get(3).unwrap_or(&0) + ticks.get(4).unwrap_or(&0);
    (idle, ticks.iter().sum())
}

fn busy_percent(from: (u64, u64), to: (u64, u64)) -> u64 {
    let all = to.1.saturating_sub(from.1);
    let idle = to.0.saturating_sub(from.0).min(all);
    // No tick at all means that nothing ran.
    ((all - idle) * 100).checked_div(all).unwrap_or(0)
}

/// Thermal zones, thousandths of a degree Celsius.
fn temperatures() -> Vec<i64> {
    let zone = |n| format!("/sys/class/thermal/thermal_zone{n}/temp");
    let read = |n| std::fs::read_to_string(zone(n)).ok()?.trim().parse().ok();
    (0..64).map_while(read).collect()
}

/// The value of `key=value` on the kernel command line.
fn kernel_word(key: &str) -> Option<String> {
    let line = std::fs::read_to_string("/proc/cmdline").ok()?;
    let value = |w: &str| w.strip_prefix(key)?.strip_prefix('=').map(str::to_owned);
    line.split_whitespace().find_map(value)
}

/// Powers off or reboots through the system's own command, so that services
/// end in order; by the system call where there is none.
fn end_with(finish: Finish) {
    let (command, how) = match finish {
        Finish::Stay => return,
        Finish::Poweroff => ("poweroff", libc::RB_POWER_OFF),
        Finish::Reboot => ("reboot", libc::RB_AUTOBOOT),
    };
    let asked = std::process::Command::new(command).status();
    if asked.is_ok_and(|s| s.success()) {
        return;
    }
    // SAFETY: plain system calls; everything written has been synced.
    unsafe {
        libc::sync();
        libc::reboot(how);
    }
    crate::print_error(&format!("the board cannot {command}: not permitted"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_what_is_not_idle() {
        assert_eq!(busy_percent((100, 200), (190, 300)), 10);
        assert_eq!(busy_percent((0, 0), (0, 0)), 0);
        assert_eq!(busy_percent((50, 100), (0, 50)), 0);
    }

    #[test]
    fn runs_of_this_image_are_counted_whatever_became_of_them() {
        let place = std::env::temp_dir().join(format!("rtperf-earlier-{}", std::process::id()));
        let run = |id: &str, image: &str, trigger| {
            let mut run = crate::run_dir::empty_run();
            run.trigger = trigger;
            run.identity.image = image.into();
            std::fs::create_dir_all(place.join(id)).unwrap();
            std::fs::write(place.join(id).join("run.json"), run.to_json().unwrap()).unwrap();
        };
        run("a", "image-1", Trigger::Autorun);
        run("b", "image-1", Trigger::Autorun);
        run("c", "image-1", Trigger::Command);
        run("d", "image-2", Trigger::Autorun);
        std::fs::create_dir(place.join("lost+found")).unwrap();
        assert_eq!(earlier_runs(&place, "image-1"), 2);
        std::fs::remove_dir_all(&place).unwrap();
        assert_eq!(earlier_runs(&place, "image-1"), 0);
    }
}
