// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The binomial distribution function, through the regularized incomplete
//! beta function: P(X ≤ k) = I₁₋ₚ(n − k, k + 1)  (NIST DLMF 8.17.5).

/// P(X ≤ k) for X ~ Bin(n, p). Absolute error below 1e-8 for n up to 10⁶,
/// growing no faster than n ln n beyond.
pub fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n || p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return 0.0;
    }
    incomplete_beta((n - k) as f64, k as f64 + 1.0, 1.0 - p)
}

/// Iₓ(a, b) by the continued fraction of DLMF 8.17.22, on the side of the
/// mean where it converges fast.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    let ln_front = a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b);
    if x < (a + 1.0) / (a + b + 2.0) {
        ln_front.exp() * fraction(a, b, x) / a
    } else {
        1.0 - ln_front.exp() * fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction, evaluated by Lentz's method as Thompson and
/// Barnett modified it (J. Comput. Phys. 64, 1986).
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let (mut c, mut d) = (1.0, 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0)));
    let mut h = d;
    // Convergence takes O(sqrt(max(a, b))) steps.
    let most = 200 + 10 * (a.max(b).sqrt() as u64);
    for m in 1..=most {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for term in [even, odd] {
            d = 1.0 / nonzero(1.0 + term * d);
            c = nonzero(1.0 + term / c);
            step = c * d;
            h *= step;
        }
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    h
}

fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// ln Γ(x) for x > 0: Stirling's series (DLMF 5.11.1) after shifting the
/// argument above 15, where six terms reach double precision.
fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 15.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
    ];
    let tail = series.iter().rev().fold(0.0, |acc, c| acc * r + c) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum by its definition, for small n.
    fn exact(k: u64, n: u64, p: f64) -> f64 {
        let mut term = (1.0 - p).powi(n as i32);
        let mut sum = term;
        for i in 0..k.min(n) {
            term *= (n - i) as f64 / (i + 1) as f64 * p / (1.0 - p);
            sum += term;
        }
        sum
    }

    #[test]
    fn agrees_with_the_definition() {
        for n in [1, 2, 7, 30, 200] {
            for k in 0..n {
                // 0.9 is as far as the definition goes: 0.001²⁰⁰ is 0 in f64.
                for p in [0.01, 0.25, 0.5, 0.9] {
                    let (got, want) = (binomial_cdf(k, n, p), exact(k, n, p));
                    assert!(
                        (got - want).abs() < 1e-11,
                        "k={k} n={n} p={p}: {got} {want}"
                    );
                }
            }
        }
    }

    #[test]
    fn is_closed_form_at_the_far_end() {
        // P(X ≤ n − 1) = 1 − pⁿ
        for (n, p) in [
            (10_000, 0.9997_f64),
            (29_956, 0.9999),
            (3_000_000, 0.999_999),
        ] {
            let want = -(n as f64 * p.ln()).exp_m1();
            let got = binomial_cdf(n - 1, n, p);
            assert!((got - want).abs() < 1e-9, "{got} {want}");
        }
    }

    #[test]
    fn the_median_of_a_symmetric_one_is_half() {
        let got = binomial_cdf(500_000, 1_000_001, 0.5);
        assert!((got - 0.5).abs() < 1e-8, "{got}");
    }
}
