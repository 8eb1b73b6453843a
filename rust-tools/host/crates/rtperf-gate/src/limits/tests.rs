// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use crate::figure::Unit;
use proptest::prelude::*;

const GOOD: &str = "\
version: 1
require: {instrumented: false, pass: measure, checks: [preempt_rt, no_throttling]}
limits:
  - metric: timer-latency{load=none,phase=middle}.p99.9
    at_most: 100us
  - at_most: 10
    at_least: 5
    metric: timer-latency.lost
";

fn error(text: &str) -> LimitsError {
    text.parse::<Limits>().unwrap_err()
}

#[test]
fn a_good_file_reads() {
    let limits: Limits = GOOD.parse().unwrap();
    assert_eq!(limits.require.instrumented, Some(false));
    assert_eq!(limits.require.checks, ["preempt_rt", "no_throttling"]);
    let [latency, lost] = &limits.limits[..] else {
        panic!("{limits:?}")
    };
    assert_eq!(latency.metric.to_string(), "timer-latency{load=none}.p99.9");
    assert_eq!(latency.selection.phase, Some(2));
    assert_eq!(
        latency.bounds,
        [Bound {
            side: Side::AtMost,
            value: Figure::new(Number::Int(100_000), Unit::Ns)
        }]
    );
    // The value came before its metric and still has the metric's unit.
    assert_eq!(lost.bounds.len(), 2);
    assert_eq!(lost.bounds[0].to_string(), "≤ 10");
    assert_eq!(lost.bounds[1].to_string(), "≥ 5");
}

#[test]
fn what_is_left_out_has_its_documented_value() {
    let limits: Limits = "version: 1\nlimits: [{metric: a.max, at_most: 1s}]"
        .parse()
        .unwrap();
    assert_eq!(limits.require, Require::default());
    assert_eq!(limits.require.pass, "measure");
}

#[test]
fn every_mistake_is_named_where_it_stands() {
    let limit = |keys: &str| format!("version: 1\nlimits:\n  - metric: t.p99\n{keys}");
    for (text, place, said) in [
        (
            limit("    at_mots: 1us\n"),
            (4, 5),
            "did you mean 'at_most'?",
        ),
        (limit("    at_most: 1usec\n"), (4, 14), "did you mean 1us?"),
        (limit("    at_most: 100\n"), (4, 14), "has no unit"),
        (limit("    at_most:\n"), (4, 13), "'at_most' has no value"),
        (limit("    at_most: [1us]\n"), (4, 14), "'at_most'"),
        (
            limit("    drift: {at_most: 5%}\n"),
            (4, 5),
            "'drift' is not supported",
        ),
        (
            limit("    at_most: 1us\n    at_most: 2us\n"),
            (0, 0),
            "'at_most' stands twice",
        ),
        (
            limit("    at_most: 1us\n    at_least: 2us\n"),
            (0, 0),
            "exchange",
        ),
        (limit(""), (3, 5), "neither 'at_most' nor 'at_least'"),
        (
            "version: 1\nlimits:\n  - metric: t.p999\n".into(),
            (3, 13),
            "did you mean 'p99.9'?",
        ),
        (
            "version: 1\nlimits:\n  - at_most: 1us\n".into(),
            (3, 5),
            "has no 'metric'",
        ),
        ("version: 1\nlimits: []\n".into(), (1, 1), "holds no limit"),
        ("version: 1\n".into(), (1, 1), "holds no limit"),
        (
            "version: 2\nfuture: x\n".into(),
            (1, 10),
            "version '2' is not known",
        ),
        ("limits: []\n".into(), (1, 1), "version: 1"),
        (
            "version: 1\nlimit: []\n".into(),
            (2, 1),
            "did you mean 'limits'?",
        ),
        (
            "version: 1\nrequire: {check: []}\n".into(),
            (2, 11),
            "did you mean 'checks'?",
        ),
        (
            "version: 1\nrequire: {lost_events: few}\n".into(),
            (2, 24),
            "no number of events",
        ),
        (
            "version: 1\nrequire: {instrumented: yes}\n".into(),
            (2, 25),
            "any, true or false",
        ),
        ("".into(), (0, 0), "is empty"),
        ("# only\n\n  # comments\n".into(), (0, 0), "is empty"),
        ("just words".into(), (1, 1), "version: 1"),
        ("version: 1\nlimits: [\n".into(), (3, 1), ""),
        (
            limit("    at_most: 1us\n---\nversion: 1\n"),
            (0, 0),
            "more than one document",
        ),
    ] {
        let e = error(&text);
        assert!(e.text.contains(said), "{text:?}: {e}");
        if place != (0, 0) {
            assert_eq!((e.line, e.column), place, "{text:?}: {e}");
        }
        assert!(!e.to_string().contains(char::is_control), "{e:?}");
    }
    let e = error("version: \"\\e[31m\"\n");
    assert_eq!(e.to_string().find(char::is_control), None, "{e:?}");
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
        let _ = text.parse::<Limits>();
    }

    #[test]
    fn arbitrary_yaml_never_panics(words in prop::collection::vec(
        prop::sample::select(vec![
            "version: 1", "limits:", "require:", "metric:", "at_most:", "- ", "\n", "  ",
            "{", "}", "[", "]", ",", "t.p99", "1us", "t{a=1}.max", "&a ", "*a", "!!int ", "'", "|",
            "0x10", ".nan", "1e400", "-0", "18446744073709551616", "~", "<<: ", "---\n", "\t",
        ]), 0..40)) {
        let _ = words.concat().parse::<Limits>();
    }

    #[test]
    fn a_damaged_file_never_panics(at in 0..GOOD.len(), with in any::<char>()) {
        let mut text = GOOD.to_owned();
        text.replace_range(at..=at, &with.to_string());
        let _ = text.parse::<Limits>();
    }

    #[test]
    fn good_limits_are_read_exactly(
        name in "[a-z][a-z-]{0,20}", ppm in 1u32..1_000_000, us in 0i64..1_000_000_000,
    ) {
        let stat = rtperf_record::Stat::Percentile(ppm);
        let text = format!("version: 1\nlimits:\n- metric: {name}.{stat}\n  at_most: {us}us\n");
        let limits: Limits = text.parse().unwrap();
        prop_assert_eq!(limits.limits[0].metric.stat, stat);
        prop_assert_eq!(limits.limits[0].bounds[0].value.number, Number::Int(us * 1_000));
    }
}
