// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Exact order statistics of latencies, and how far the sample count carries
//! them. Times are `i64` nanoseconds, quantiles parts per million.
//!
//! Nothing is estimated or smoothed: a quantile is a sample that was taken
//! (nearest rank), and its bounds are samples too (distribution-free, from
//! the binomial distribution of the number of samples below the quantile;
//! W. J. Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2).

mod binomial;
mod describe;
mod quantile;

pub use binomial::binomial_cdf;
pub use describe::{describe, Description};
pub use quantile::{lower_rank, nearest_rank, supported, upper_rank, CONFIDENCE, PRINTED};
