// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `RTPERF_UST` names the provider that is loaded. A program of its own:
//! it changes its environment and loads into its process.
#![cfg(not(target_feature = "crt-static"))]

use rtperf_probe::ust::{active, load, PROVIDER_VARIABLE};
use std::path::Path;
use std::process::Command;

#[test]
fn the_provider_named_by_the_environment_is_the_one_that_is_tried() {
    std::env::set_var(PROVIDER_VARIABLE, "/nonexistent/other.so");
    let e = load().unwrap_err().0;
    assert!(e.contains("/nonexistent/other.so is not installed"), "{e}");

    // One of a version to come.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, library) = (folder.join("newer.c"), folder.join("newer.so"));
    std::fs::write(&source, "unsigned rtperf_ust_abi(void) { return 999; }\n").unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    if !built.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no C compiler");
        return;
    }
    std::env::set_var(PROVIDER_VARIABLE, &library);
    let e = load().unwrap_err().0;
    assert!(e.contains("newer.so has interface 999, not 1"), "{e}");
    assert!(!active());
}
