// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;

fn refused(path: &str) -> String {
    Provider::open(path.as_ref()).err().unwrap().0
}

#[test]
fn an_absent_provider_is_one_sentence() {
    assert_eq!(
        refused("/nonexistent/librtperf-ust.so"),
        "no user-space events: /nonexistent/librtperf-ust.so is not installed (package rtperf-ust)"
    );
}
