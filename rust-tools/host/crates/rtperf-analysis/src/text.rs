// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report for people: findings first, then tables of 100 columns.

use crate::report::{Analysis, ChainReport, HandlerReport, ThreadReport};
use crate::series::Summary;
use crate::units::{seconds, span, us};
use std::fmt::{self, Display, Formatter};

/// Instances shown of each finding.
const EVIDENCE: usize = 3;

/// Threads and callbacks shown; the rest is summed up. JSON has all.
const SHOWN: usize = 20;

impl Display for Analysis {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.head(f)?;
        self.findings(f)?;
        handlers(f, "Interrupt handlers", &self.irqs, irq_name)?;
        handlers(f, "Softirqs", &self.softirqs, |h| h.name.clone())?;
        chains(f, &self.chains)?;
        threads(f, &self.threads, self.length_ns())?;
        timers(f, &self.hrtimers)?;
        self.cpus(f)?;
        self.counts(f)?;
        self.footnotes(f)
    }
}

impl Analysis {
    fn length_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.begin_ns)
    }

    fn head(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let lost = match (self.lost_events, self.lost_packets) {
            (0, 0) => "none lost".to_owned(),
            (events, 0) => format!("{events} lost"),
            (events, packets) => format!("{events} and {packets} packets lost"),
        };
        writeln!(f, "{}", clean(&self.trace))?;
        writeln!(
            f,
            "{} events, {lost}; {} from {} to {}",
            self.events,
            span(self.length_ns()),
            seconds(self.begin_ns),
            seconds(self.end_ns)
        )
    }

    fn findings(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.findings.is_empty() {
            return writeln!(f, "\nFindings: none");
        }
        writeln!(f, "\nFindings")?;
        for finding in &self.findings {
            wrapped(f, "* ", &clean(&finding.message))?;
            for e in finding.evidence.iter().take(EVIDENCE) {
                let cpu = e.cpu.map_or(String::new(), |c| format!("  CPU {c}"));
                let long = e
                    .duration_ns
                    .map_or(String::new(), |d| format!("  {}", span(d)));
                writeln!(
                    f,
                    "    {}{cpu}  {}{long}",
                    seconds(e.time_ns),
                    clean(&e.event)
                )?;
            }
        }
        Ok(())
    }

    fn cpus(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let total = (self.length_ns()).max(1) as f64;
        if self.cpus.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nCPU use")?;
        for row in self.cpus.chunks(6) {
            let cell = |c: &crate::report::Cpu| {
                format!(
                    "  CPU {:>2} {:>5.1} %",
                    c.cpu,
                    100.0 * c.busy_ns as f64 / total
                )
            };
            writeln!(f, "{}", row.iter().map(cell).collect::<String>())?;
        }
        Ok(())
    }

    fn counts(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nEvents")?;
        let mut list: Vec<(&String, &u64)> = self.counts.iter().collect();
        list.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), *name));
        for row in list[..list.len().min(SHOWN)].chunks(2) {
            let cell = |(name, n): &(&String, &u64)| format!("  {n:>10}  {:<35}", short(name, 35));
            writeln!(f, "{}", row.iter().map(cell).collect::<String>().trim_end())?;
        }
        if list.len() > SHOWN {
            let rest: u64 = list[SHOWN..].iter().map(|(_, n)| **n).sum();
            writeln!(f, "  {rest:>10}  of {} more kinds", list.len() - SHOWN)?;
        }
        Ok(())
    }

    fn footnotes(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let irqs = self.irqs.iter().chain(&self.softirqs).chain(&self.hrtimers);
        let of_handlers = irqs.flat_map(|h| [h.exec, h.period, h.late]);
        let of_threads = self.threads.iter().flat_map(|t| [t.wakeup, t.exec]);
        let of_chains = self.chains.iter().map(|c| Some(c.summary));
        let all = || {
            of_handlers
                .clone()
                .chain(of_threads.clone())
                .chain(of_chains.clone())
                .flatten()
        };
        let mut notes = self.notes.clone();
        if all().any(|s| s.suspect > 0) {
            notes.push("* some instances overlap lost events; those figures may be wrong".into());
        }
        if all().any(|s| !s.exact) {
            notes.push("~ percentiles of more than 16,384 instances are exact to 0.1 %".into());
        }
        if all().any(|s| s.p99_ns.is_none()) {
            notes.push("- too few instances to speak of a 99th percentile".into());
        }
        if !notes.is_empty() {
            writeln!(f)?;
        }
        for note in &notes {
            wrapped(f, "", &clean(note))?;
        }
        if !self.diagnostics.is_empty() {
            writeln!(f, "\nFaults of the trace")?;
        }
        for fault in &self.diagnostics {
            wrapped(f, "* ", &clean(fault))?;
        }
        Ok(())
    }
}

fn irq_name(h: &HandlerReport) -> String {
    format!("{:>4} {}", h.number, h.name)
}

const COLUMNS: &str = "        n        min       mean        p50        p99         max";

/// n, min, mean, p50, p99, max in microseconds.
fn row(s: Option<&Summary>) -> String {
    let Some(s) = s else {
        return format!("{:>9}", 0);
    };
    let mark = if s.suspect > 0 { "*" } else { "" };
    let about = if s.exact { "" } else { "~" };
    let p99 = s
        .p99_ns
        .map_or("-".into(), |p| format!("{about}{}", us(p as f64)));
    format!(
        "{:>9} {:>10} {:>10} {:>10} {:>10} {:>11}{mark}",
        s.n,
        us(s.min_ns as f64),
        us(s.mean_ns),
        format!("{about}{}", us(s.p50_ns as f64)),
        p99,
        us(s.max_ns as f64),
    )
}

fn handlers(
    f: &mut Formatter<'_>,
    title: &str,
    list: &[HandlerReport],
    name: impl Fn(&HandlerReport) -> String,
) -> fmt::Result {
    if list.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n{title} (us)\n{:<24}       {COLUMNS}", "")?;
    for h in list {
        writeln!(
            f,
            "{:<24} time  {}",
            short(&name(h), 24),
            row(h.exec.as_ref())
        )?;
        if let Some(period) = &h.period {
            writeln!(f, "{:<24} period{}", "", row(Some(period)))?;
        }
    }
    Ok(())
}

fn timers(f: &mut Formatter<'_>, list: &[HandlerReport]) -> fmt::Result {
    if list.is_empty() {
        return Ok(());
    }
    let mut list: Vec<&HandlerReport> = list.iter().collect();
    list.sort_by_key(|h| std::cmp::Reverse(h.exec.map_or(0, |s| s.n)));
    writeln!(
        f,
        "\nHigh-resolution timers by callback (us)\n{:<24}       {COLUMNS}",
        ""
    )?;
    for h in &list[..list.len().min(SHOWN)] {
        writeln!(
            f,
            "{:<24} time  {}",
            format!("{:#x}", h.number),
            row(h.exec.as_ref())
        )?;
        if let Some(late) = &h.late {
            writeln!(f, "{:<24} late  {}", "", row(Some(late)))?;
        }
    }
    if list.len() > SHOWN {
        writeln!(f, "  and {} more", list.len() - SHOWN)?;
    }
    Ok(())
}

fn chains(f: &mut Formatter<'_>, list: &[ChainReport]) -> fmt::Result {
    if list.is_empty() {
        return Ok(());
    }
    writeln!(
        f,
        "\nStages of the DAQ blocks (us)\n{:<24}       {COLUMNS}",
        ""
    )?;
    for c in list {
        let name = format!("device {} {}", c.device, c.name);
        writeln!(f, "{name:<30} {}", row(Some(&c.summary)))?;
    }
    Ok(())
}

fn threads(f: &mut Formatter<'_>, list: &[ThreadReport], span_ns: i64) -> fmt::Result {
    if list.is_empty() {
        return Ok(());
    }
    let total = span_ns.max(1) as f64;
    writeln!(
        f,
        "\nThreads by CPU time; from woken to running (us)\n{:>7} {:<15} {:>11} {:>5} {:>8} {:>8} {:>9} {:>9} {:>10} {:>10}",
        "tid", "name", "CPU ms", "%", "switches", "woken", "mean", "p50", "p99", "max"
    )?;
    for t in &list[..list.len().min(SHOWN)] {
        thread(f, t, total)?;
    }
    if list.len() > SHOWN {
        let rest = list[SHOWN..]
            .iter()
            .fold(0i64, |sum, t| sum.saturating_add(t.cpu_ns));
        writeln!(
            f,
            "  and {} more with {} of CPU time together",
            list.len() - SHOWN,
            span(rest)
        )?;
    }
    Ok(())
}

fn thread(f: &mut Formatter<'_>, t: &ThreadReport, total: f64) -> fmt::Result {
    let cpu = format!("{:.3}", t.cpu_ns as f64 / 1e6);
    let share = 100.0 * t.cpu_ns as f64 / total;
    write!(
        f,
        "{:>7} {:<15} {cpu:>11} {share:>5.1} {:>8}",
        t.tid,
        short(&t.comm, 15),
        t.switches
    )?;
    let Some(w) = &t.wakeup else {
        return writeln!(f, " {:>8}", 0);
    };
    let mark = if w.suspect > 0 { "*" } else { "" };
    let about = if w.exact { "" } else { "~" };
    writeln!(
        f,
        " {:>8} {:>9} {:>9} {:>10} {:>10}{mark}",
        w.n,
        us(w.mean_ns),
        format!("{about}{}", us(w.p50_ns as f64)),
        w.p99_ns
            .map_or("-".into(), |p| format!("{about}{}", us(p as f64))),
        us(w.max_ns as f64),
    )
}

/// Names come from the trace: nothing in them may steer a terminal.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

fn short(text: &str, width: usize) -> String {
    let text = clean(text);
    match text.chars().count() > width {
        true => text.chars().take(width - 1).chain(['…']).collect(),
        false => text,
    }
}

/// A sentence over several lines of 100 columns.
fn wrapped(f: &mut Formatter<'_>, bullet: &str, text: &str) -> fmt::Result {
    let indent = " ".repeat(bullet.len());
    let mut line = bullet.to_owned();
    for word in text.split(' ') {
        let used = line.chars().count();
        if used > indent.len() && used + 1 + word.chars().count() > 100 {
            writeln!(f, "{}", line.trim_end())?;
            line = indent.clone();
        }
        if line.len() > indent.len() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(f, "{}", line.trim_end())
}
