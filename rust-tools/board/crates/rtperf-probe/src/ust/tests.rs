// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;

fn refused(path: &str) -> String {
    Provider::open(path.as_ref()).err().unwrap().0
}

#[test]
#[cfg(not(target_feature = "crt-static"))]
fn an_absent_provider_is_one_sentence() {
    assert_eq!(
        refused("/nonexistent/librtperf-ust.so"),
        "no user-space events: /nonexistent/librtperf-ust.so is not installed (package rtperf-ust)"
    );
}

#[test]
#[cfg(not(target_feature = "crt-static"))]
fn a_name_that_the_loader_would_search_for_is_refused() {
    assert!(refused("librtperf-ust.so").contains("no absolute path"));
}

#[test]
#[cfg(not(target_feature = "crt-static"))]
fn a_file_that_is_no_library_is_the_loaders_sentence() {
    assert!(refused(file!()).contains("no absolute path"));
    let e = refused(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    assert!(e.starts_with("no user-space events: /") && e.contains("Cargo.toml"));
}

#[test]
#[cfg(not(target_feature = "crt-static"))]
fn another_library_is_told_from_the_provider() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut mapped = maps.lines().filter_map(|l| l.split_whitespace().nth(5));
    let Some(libc) = mapped.find(|path| path.contains("libc.so") || path.contains("libc-")) else {
        eprintln!("skipped: this test uses no shared C library");
        return;
    };
    let e = refused(libc);
    assert!(e.contains(&format!("{libc} has no rtperf_ust_abi")), "{e}");
}

#[test]
#[cfg(target_feature = "crt-static")]
fn a_static_program_says_that_it_cannot() {
    assert!(refused(PROVIDER).contains("linked statically"));
}

#[test]
fn nothing_is_active_without_a_provider() {
    let traced = Traced {
        measurement: "timer-latency-00000000".into(),
        bound_ns: Some(1),
    };
    activate(std::slice::from_ref(&traced)).unwrap();
    assert!(!active());
    assert!(Emitter::of(0, None).is_none());
    let hostile = Traced {
        measurement: "a\0b".into(),
        ..traced
    };
    assert!(activate(&[hostile]).is_err());
    deactivate();
}
