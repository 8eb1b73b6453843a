// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report as JUnit XML: a test suite for each run, a test case for each
//! judged figure. A miss is a failure, unusable data an error.

use super::{bounds, measured, samples};
use crate::judge::Verdict;
use crate::report::{Counts, Judged, Report, RunReport, VIRTUAL, status_word};
use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::writer::Writer;
use std::io;

/// The report as an XML document.
pub fn junit(report: &Report) -> io::Result<String> {
    let mut w = Writer::new_with_indent(Vec::new(), b' ', 2);
    w.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let attributes = totals("rtperf gate", report.counts());
    w.create_element("testsuites")
        .with_attributes(attributes.iter().map(|(k, v)| (*k, v.as_str())))
        .write_inner_content(|w| report.runs.iter().try_for_each(|run| suite(w, report, run)))?;
    let mut text = String::from_utf8(w.into_inner()).map_err(io::Error::other)?;
    text.push('\n');
    Ok(text)
}

type Xml = Writer<Vec<u8>>;

/// Problems of a whole run are one more test case, in error if there are any.
fn totals(name: &str, counts: Counts) -> Vec<(&'static str, String)> {
    vec![
        ("name", name.to_owned()),
        (
            "tests",
            (counts.pass + counts.miss + counts.unusable + counts.problems).to_string(),
        ),
        ("failures", counts.miss.to_string()),
        ("errors", (counts.unusable + counts.problems).to_string()),
    ]
}

fn suite(w: &mut Xml, report: &Report, run: &RunReport) -> io::Result<()> {
    let attributes = totals(run.name(), run.counts());
    w.create_element("testsuite")
        .with_attributes(attributes.iter().map(|(k, v)| (*k, v.as_str())))
        .write_inner_content(|w| {
            properties(w, report, run)?;
            for (at, problem) in run.problems.iter().enumerate() {
                let name = format!("run can be judged ({})", at + 1);
                case(w, "rtperf.run", &name, |w| {
                    fault(w, Verdict::Unusable, problem)
                })?;
            }
            run.judged
                .iter()
                .try_for_each(|judged| figure(w, run, judged))
        })?;
    Ok(())
}

fn properties(w: &mut Xml, report: &Report, run: &RunReport) -> io::Result<()> {
    let mut list = vec![
        ("path", run.path.clone()),
        ("limits_file", report.limits_file.clone()),
    ];
    if let Some(about) = &run.about {
        let i = &about.identity;
        let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
        list.extend([
            ("run", about.id.clone()),
            ("status", status_word(about.status).to_owned()),
            ("pass", report.require.pass.clone()),
            ("instrumented", about.instrumented.to_string()),
            ("virtual_board", about.virtual_board.to_string()),
            ("image", i.image.clone()),
            ("model", or_empty(&i.model)),
            ("serial", or_empty(&i.serial)),
            ("boot_id", or_empty(&i.boot_id)),
            ("kernel_release", i.kernel_release.clone()),
        ]);
        list.extend(about.virtual_board.then(|| ("caution", VIRTUAL.to_owned())));
        list.extend(about.checks.iter().map(|c| ("check_not_ok", c.sentence())));
    }
    w.create_element("properties").write_inner_content(|w| {
        for (name, value) in &list {
            w.create_element("property")
                .with_attribute(("name", *name))
                .with_attribute(("value", value.as_str()))
                .write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn case(
    w: &mut Xml,
    class: &str,
    name: &str,
    inner: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    w.create_element("testcase")
        .with_attribute(("classname", class))
        .with_attribute(("name", name))
        .write_inner_content(inner)?;
    Ok(())
}

fn figure(w: &mut Xml, run: &RunReport, judged: &Judged) -> io::Result<()> {
    let class = format!("rtperf.{}", judged.measurement);
    let name = format!("{} {}", judged.metric(), judged.bound);
    case(w, &class, &name, |w| {
        if judged.judgement.verdict != Verdict::Pass {
            fault(w, judged.judgement.verdict, &judged.judgement.reason)?;
        }
        let mut lines = vec![
            format!("limit {} {}", judged.pattern, judged.bound),
            format!("measured {}, n {}", measured(judged), samples(judged)),
        ];
        if judged.judgement.confidence.is_some() {
            lines.push(format!("95 % bounds {}", bounds(judged)));
        }
        if !judged.notes.is_empty() {
            lines.push(format!("while sampling: {}", judged.notes.join(", ")));
        }
        if run.about.as_ref().is_some_and(|about| about.virtual_board) {
            lines.push(VIRTUAL.to_owned());
        }
        w.create_element("system-out")
            .write_text_content(BytesText::new(&lines.join("\n")))?;
        Ok(())
    })
}

/// `<failure>` for a miss, `<error>` for unusable data.
fn fault(w: &mut Xml, verdict: Verdict, why: &str) -> io::Result<()> {
    let element = if verdict == Verdict::Miss {
        "failure"
    } else {
        "error"
    };
    w.create_element(element)
        .with_attribute(("type", verdict.word()))
        .with_attribute(("message", why))
        .write_text_content(BytesText::new(why))?;
    Ok(())
}
