// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report for a merge request, in GitHub's and GitLab's Markdown.

use super::{Group, bounds, groups, measured, samples};
use crate::judge::Verdict;
use crate::report::{Judged, Report, RunReport, VIRTUAL};
use std::fmt::Write;

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let verdict = report.verdict();
    let mut out = format!(
        "## rtperf gate: {} {}\n\n{}, limits {}\n",
        sign(verdict),
        verdict.word().to_uppercase(),
        report.counts(),
        code(&report.limits_file),
    );
    for run in &report.runs {
        // Writing to a String cannot fail.
        let _ = one(&mut out, report, run);
    }
    out
}

fn one(out: &mut String, report: &Report, run: &RunReport) -> std::fmt::Result {
    writeln!(out, "\n### Run {}\n", code(run.name()))?;
    if let Some(about) = &run.about {
        writeln!(
            out,
            "{}; {}\n",
            plain(&about.board()),
            plain(&about.state(&report.require.pass))
        )?;
        if about.virtual_board {
            writeln!(out, "> **{VIRTUAL}**\n")?;
        }
        for check in &about.checks {
            writeln!(out, "- check {}", plain(&check.sentence()))?;
        }
    }
    for problem in &run.problems {
        writeln!(out, "- **unusable**: {}", plain(problem))?;
    }
    groups(run).iter().try_for_each(|group| table(out, group))
}

fn table(out: &mut String, group: &Group) -> std::fmt::Result {
    writeln!(out, "\n{}\n", plain(&group.title()))?;
    writeln!(
        out,
        "| metric | limit | measured | 95 % bounds | n | verdict |"
    )?;
    writeln!(out, "|---|--:|--:|--:|--:|---|")?;
    for row in &group.rows {
        let judged = row.judged;
        let verdict = judged.judgement.verdict;
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} {}{} |",
            code(&row.label()),
            judged.bound,
            measured(judged),
            bounds(judged),
            samples(judged),
            sign(verdict),
            verdict.word(),
            remarks(judged),
        )?;
    }
    Ok(())
}

fn remarks(judged: &Judged) -> String {
    let mut out = String::new();
    if !judged.judgement.reason.is_empty() {
        out += &format!(": {}", plain(&judged.judgement.reason));
    }
    if !judged.notes.is_empty() {
        out += &format!(" (while sampling: {})", judged.notes.join(", "));
    }
    out
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✅",
        Verdict::Miss => "❌",
        Verdict::Unusable => "⚠️",
    }
}

/// Text that Markdown and HTML leave alone.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '@' | '!' => {
                out.extend(['\\', c])
            }
            _ => out.push(c),
        }
    }
    out
}

/// A code span that also survives in a table cell.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'").replace('|', "\\|"))
}
