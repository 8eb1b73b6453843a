// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;

const DEFAULT: &str = include_str!("../../../../plans/default.yaml");
const VIRTUAL: &str = include_str!("../../../../plans/virtual-board.yaml");

fn plan(measurement: &str) -> Result<Plan, String> {
    parse(&format!(
        "version: 1\nname: t\nmeasurements:\n  - {measurement}\n"
    ))
}

#[test]
fn the_shipped_plans_are_good_and_print_back() {
    for text in [DEFAULT, VIRTUAL] {
        let plan = parse(text).unwrap();
        let printed = serde_yaml::to_string(&plan).unwrap();
        let again = parse(&printed).unwrap();
        assert_eq!(printed, serde_yaml::to_string(&again).unwrap());
    }
    let all = parse(VIRTUAL).unwrap();
    for name in MEASUREMENTS {
        assert!(all.measurements.iter().any(|m| m.name() == name), "{name}");
    }
}

#[test]
fn mistakes_say_which_measurement_and_what() {
    for (text, words) in [
        (
            "{measure: timer-latncy}",
            &["measurement 1", "'timer-latncy'", "timer-latency"][..],
        ),
        (
            "{measure: timer-latency, priority: 0}",
            &["measurement 1", "priority 0", "1 to 99"],
        ),
        (
            "{measure: context-switch, priority: 100}",
            &["priority 100", "1 to 99"],
        ),
        (
            "{measure: timer-latency, priorty: 5}",
            &["priorty", "priority"],
        ),
        (
            "{measure: timer-latency, interval: 1000}",
            &["1000", "unit"],
        ),
        (
            "{measure: timer-latency, rounds: many}",
            &["rounds", "many"],
        ),
        ("{measure: timer-latency, interval: 0ms}", &["0ms"]),
        ("{measure: timer-latency, rounds: 0}", &["rounds", "0"]),
        ("{measure: timer-latency, cpus: []}", &["cpus", "all"]),
        (
            "{measure: context-switch, clock: wall}",
            &["wall", "monotonic"],
        ),
        (
            "{measure: context-switch, method: telepathy}",
            &["telepathy", "pipe"],
        ),
        ("{measure: 3}", &["measurement 1", "measure"]),
        ("timer-latency", &["measurement 1", "measure"]),
    ] {
        let e = plan(text).unwrap_err();
        for word in words {
            assert!(e.contains(word), "{text}: {e}");
        }
        assert!(!e.contains('\n'), "{text}: more than one line: {e}");
    }
}

#[test]
fn mistakes_around_the_measurements() {
    let good = "measurements: [{measure: timer-latency}]";
    for (text, word) in [
        (format!("version: 2\nname: t\n{good}"), "version 2"),
        (format!("name: t\n{good}"), "version"),
        ("version: 1\nname: t\nmeasurements: []".to_owned(), "no measurement"),
        (format!("version: 1\nname: t\nlod: []\n{good}"), "lod"),
        (format!("version: 1\nname: t\nautorun: {{finish: explode}}\n{good}"), "explode"),
        (
            format!("version: 1\nname: t\nload: [{{name: h, cpu: 0, priority: 9, busy: 2ms, period: 1ms}}]\n{good}"),
            "never let go",
        ),
        (
            format!("version: 1\nname: t\nload: [{{name: none, cpu: 0, priority: 9, busy: 1ms, period: 2ms}}]\n{good}"),
            "needs a name",
        ),
        ("\u{1}".to_owned(), ""),
        ("[".to_owned(), "a mapping with version"),
        ("version: 1\nname: [".to_owned(), "line 2"),
    ] {
        let e = parse(&text).unwrap_err();
        assert!(e.contains(word), "{text}: {e}");
    }
}

#[test]
fn quick_takes_a_tenth_but_not_more_than_asked() {
    for (asked, quick) in [(10_000, 1_000), (500, 100), (50, 50)] {
        let mut entry = plan(&format!("{{measure: timer-latency, rounds: {asked}}}"))
            .unwrap()
            .measurements
            .remove(0);
        entry.quick();
        let Entry::TimerLatency(t) = entry else {
            panic!("another measurement")
        };
        assert_eq!(t.rounds, quick);
    }
}

/// Damaged plans are errors, whatever the damage.
#[test]
fn no_mutation_of_a_plan_panics() {
    let mut state = 1u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..3_000 {
        let mut bytes = DEFAULT.as_bytes().to_vec();
        for _ in 0..=next(4) {
            let at = next(bytes.len());
            match next(3) {
                0 => bytes[at] = b" :-[]{}\n#&*!|>'\"0a\t"[next(19)],
                1 => bytes.truncate(at.max(1)),
                _ => drop(bytes.remove(at)),
            }
            bytes.push(b'\n');
        }
        let _ = parse(&String::from_utf8_lossy(&bytes));
    }
}
