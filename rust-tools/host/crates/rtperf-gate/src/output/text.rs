// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report for a terminal.

use super::{Group, Row, bounds, groups, measured, samples};
use crate::judge::Verdict;
use crate::report::{Report, RunReport, VIRTUAL};
use comfy_table::{
    CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle,
};

/// No lines but one below the header.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none())
    .header_separator(LineStyle::none().fill('─'))
    .content_lines(ContentLineStyle::none());

/// The report in at most `width` columns.
pub fn text(report: &Report, width: u16, colour: bool) -> String {
    let paint = |verdict: Verdict, text: &str| match (colour, verdict) {
        (false, _) => text.to_owned(),
        (true, Verdict::Pass) => format!("\x1b[32m{text}\x1b[0m"),
        (true, Verdict::Miss) => format!("\x1b[1;31m{text}\x1b[0m"),
        (true, Verdict::Unusable) => format!("\x1b[33m{text}\x1b[0m"),
    };
    let mut out = String::new();
    for run in &report.runs {
        head(&mut out, report, run, width);
        for group in groups(run) {
            section(&mut out, &group, width, &paint);
        }
    }
    let verdict = report.verdict();
    let word = verdict.word().to_uppercase();
    let place = if report.is_virtual() {
        " on a virtual board"
    } else {
        ""
    };
    let line = format!("VERDICT: {word} ({}){place}", report.counts());
    out.push_str(&paint(verdict, &line));
    out.push('\n');
    out
}

/// What the run is, and what is wrong with it as a whole.
fn head(out: &mut String, report: &Report, run: &RunReport, width: u16) {
    wrap(out, &format!("Run {}", run.name()), 2, width);
    if let Some(about) = &run.about {
        let board = format!("  {}; {}", about.board(), about.state(&report.require.pass));
        wrap(out, &board, 4, width);
        if about.virtual_board {
            wrap(out, &format!("  {VIRTUAL}"), 4, width);
        }
        for check in &about.checks {
            wrap(out, &format!("  check {}", check.sentence()), 4, width);
        }
    }
    for problem in &run.problems {
        wrap(out, &format!("  UNUSABLE {problem}"), 4, width);
    }
    out.push('\n');
}

/// One measurement's limits: what they share, the table, its footnotes.
fn section(out: &mut String, group: &Group, width: u16, paint: &impl Fn(Verdict, &str) -> String) {
    wrap(out, &group.title(), 4, width);
    let mut table = Table::new();
    table
        .load_style(STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width)
        .set_header(["metric", "limit", "measured", "95 % bounds", "n", "verdict"]);
    let mut footnotes: Vec<Footnote> = Vec::new();
    for row in &group.rows {
        let judged = row.judged;
        let verdict = judged.judgement.verdict.word().to_uppercase();
        let marks = marks(&mut footnotes, row);
        table.add_row([
            row.label(),
            judged.bound.to_string(),
            measured(judged),
            bounds(judged),
            samples(judged),
            verdict + &marks,
        ]);
    }
    for column in 1..5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        out.push_str(&painted(line.trim_end(), paint));
        out.push('\n');
    }
    for (at, footnote) in footnotes.iter().enumerate() {
        // Of several rows, their marks say which.
        let text = match &footnote.subjects[..] {
            [one] if !one.is_empty() => format!("{one}: {}", footnote.text),
            _ => footnote.text.clone(),
        };
        wrap(out, &format!(" [{}] {text}", at + 1), 5, width);
    }
    out.push('\n');
}

/// What is said below a table of some of its rows.
struct Footnote {
    text: String,
    subjects: Vec<String>,
}

/// Adds the footnotes of a row, each text once, and returns their marks.
fn marks(footnotes: &mut Vec<Footnote>, row: &Row) -> String {
    let mut own: Vec<(String, String)> = Vec::new();
    if !row.judged.judgement.reason.is_empty() {
        own.push((row.label(), row.judged.judgement.reason.clone()));
    }
    if !row.judged.notes.is_empty() {
        let text = format!("while sampling {}", row.judged.notes.join(", "));
        own.push((row.own.to_string(), text));
    }
    let mut marks = String::new();
    for (subject, text) in own {
        let known = footnotes.iter().position(|f| f.text == text);
        let at = known.unwrap_or(footnotes.len());
        if known.is_none() {
            footnotes.push(Footnote {
                text,
                subjects: Vec::new(),
            });
        }
        if !footnotes[at].subjects.contains(&subject) {
            footnotes[at].subjects.push(subject);
        }
        marks += &format!(" [{}]", at + 1);
    }
    marks
}

/// Colours the verdict of a table row: it stands in the last column.
fn painted(line: &str, paint: &impl Fn(Verdict, &str) -> String) -> String {
    for verdict in [Verdict::Pass, Verdict::Miss, Verdict::Unusable] {
        let word = verdict.word().to_uppercase();
        if let Some((before, after)) = line.rsplit_once(&word) {
            return format!("{before}{}{after}", paint(verdict, &word));
        }
    }
    line.to_owned()
}

/// Breaks a line between words, its continuation indented.
fn wrap(out: &mut String, line: &str, indent: usize, width: u16) {
    let start = line.len() - line.trim_start().len();
    out.push_str(&line[..start]);
    let mut column = start;
    let mut first = true;
    for word in line.split_whitespace() {
        let long = word.chars().count();
        if !first && column + 1 + long > usize::from(width) {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if !first {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += long;
        first = false;
    }
    out.push('\n');
}
