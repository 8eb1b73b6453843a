// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

mod common;
mod outputs;
mod rules;
mod trace;
