// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the user sees, in all four formats.

use crate::common::{LIMITS, judged, report, run};
use quick_xml::events::Event;
use rtperf_gate::{Report, json, junit, markdown, text, unreadable};

fn full() -> Report {
    let gone = unreadable("results/gone", "results/gone is no folder");
    report(vec![judged(&run(), LIMITS, None), gone], LIMITS)
}

#[test]
fn terminal() {
    let text = text(&full(), 100, false);
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert!(!text.contains('\x1b'));
    insta::assert_snapshot!(text);
}

#[test]
fn colour_changes_no_text() {
    let coloured = text(&full(), 100, true);
    assert!(coloured.contains("\x1b[1;31mMISS\x1b[0m [1]"), "{coloured}");
    let mut plain = coloured.clone();
    for code in ["\x1b[0m", "\x1b[32m", "\x1b[33m", "\x1b[1;31m"] {
        plain = plain.replace(code, "");
    }
    assert_eq!(plain, text(&full(), 100, false));
}

#[test]
fn merge_request() {
    insta::assert_snapshot!(markdown(&full()));
}

#[test]
fn programs() {
    let one = report(
        vec![judged(
            &run(),
            "{version: 1, limits: [{metric: timer-latency.p50, at_most: 20us}]}",
            None,
        )],
        LIMITS,
    );
    insta::assert_snapshot!(json(&one));
}

#[test]
fn ci_servers() {
    insta::assert_snapshot!(junit(&full()).unwrap());
}

/// What may stand in which element, in which order, as the schemas of CI
/// servers have it; and the counts of each suite are those of its cases.
#[test]
fn junit_has_the_shape_that_schemas_ask_for() {
    let xml = junit(&full()).unwrap();
    let mut reader = quick_xml::Reader::from_str(&xml);
    let mut open: Vec<(String, usize)> = vec![("".into(), 0)];
    let (mut counted, mut declared) = (Vec::new(), Vec::new());
    loop {
        let event = reader.read_event().unwrap();
        let (e, empty) = match &event {
            Event::Start(e) => (e, false),
            Event::Empty(e) => (e, true),
            Event::End(_) => {
                open.pop();
                continue;
            }
            Event::Eof => break,
            _ => continue,
        };
        let name = e.name().as_ref().to_owned();
        let (parent, last) = open.last_mut().unwrap();
        let allowed: &[&str] = match parent.as_str() {
            "" => &["testsuites"],
            "testsuites" => &["testsuite"],
            "testsuite" => &["properties", "testcase"],
            "properties" => &["property"],
            "testcase" => &["failure", "error", "system-out"],
            _ => &[],
        };
        let at = allowed.iter().position(|a| *a == name);
        let at = at.unwrap_or_else(|| panic!("<{name}> in <{parent}>"));
        assert!(at >= *last, "<{name}> too late in <{parent}>");
        *last = at;
        let get = |key: &str| {
            let found = e
                .attributes()
                .map(Result::unwrap)
                .find(|a| a.key.as_ref() == key);
            found.map(|a| a.value.into_owned())
        };
        match name.as_str() {
            "testsuite" => {
                let number = |key: &str| get(key).unwrap().parse::<usize>().unwrap();
                declared.push((number("tests"), number("failures"), number("errors")));
                counted.push((0, 0, 0));
            }
            "testcase" => {
                assert!(get("name").is_some() && get("classname").is_some());
                counted.last_mut().unwrap().0 += 1;
            }
            "failure" => counted.last_mut().unwrap().1 += 1,
            "error" => counted.last_mut().unwrap().2 += 1,
            "property" => assert!(get("name").is_some() && get("value").is_some()),
            _ => {}
        }
        if !empty {
            open.push((name, 0));
        }
    }
    assert_eq!(counted, declared);
    assert_eq!(counted.len(), 2);
}

/// A run directory may hold anything; no format may be steered by it.
#[test]
fn hostile_text_stays_text() {
    let hostile = "a\x1b]0;x\x07</failure>|`<script>\u{202e}\n&\u{0}";
    let run = run().edit(|run| {
        run.id = hostile.into();
        run.identity.image = hostile.into();
        run.identity.model = Some(hostile.into());
        run.checks.before[1].found = hostile.into();
        run.measurements[3].reason = Some(hostile.into());
        run.measurements[1]
            .params
            .0
            .insert(hostile.into(), hostile.into());
    });
    let dir = rtperf_testkit::temp_dir();
    // The run-id is no usable folder name here.
    let mut plain = run.clone();
    plain.run.id = "plain".into();
    let open = rtperf_card::RunDir::open(plain.write(dir.path())).unwrap();
    let limits: rtperf_gate::Limits = LIMITS.parse().unwrap();
    let read = |m: &rtperf_record::Measurement| {
        let samples = open.samples(m).map_err(|e| e.to_string())?;
        Ok(samples.iter().collect())
    };
    let judged = rtperf_gate::judge_run(&limits, None, hostile, &run.run, &read, &|| {
        Err(hostile.into())
    });
    let report = report(vec![judged], LIMITS);
    let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    for out in [
        text(&report, 100, false),
        junit(&report).unwrap(),
        json(&report),
        markdown(&report),
    ] {
        assert_eq!(out.find(bad), None, "{out}");
    }
    let markdown = markdown(&report);
    let outside_code: String = markdown.replace("\\`", "").split('`').step_by(2).collect();
    assert!(!outside_code.contains('<'), "{markdown}");
    let xml = junit(&report).unwrap();
    let mut reader = quick_xml::Reader::from_str(&xml);
    while !matches!(reader.read_event().unwrap(), Event::Eof) {}
}
