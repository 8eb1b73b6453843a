// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Figures of one measurement, from its samples.

use rtperf_probe::SampleBuffer;
use rtperf_record::{flags, Sample, Stat, Summary};
use rtperf_stats::{describe, nearest_rank, supported, PRINTED};

/// Computes the summary. **Sorts the samples**, so that no second copy of
/// them is needed: store them first.
pub fn summarize(buffer: &mut SampleBuffer, lap: usize) -> Option<Summary> {
    let lap_mean_ns = (lap > 1)
        .then(|| lap_mean(buffer.as_slice(), lap))
        .flatten();
    let samples = buffer.as_mut_slice();
    let overruns = samples.iter().filter(|s| s.flags & flags::OVERRUN != 0);
    let overruns = overruns.count() as u64;
    samples.sort_unstable_by_key(|s| s.latency_ns);
    let d = describe(samples.len(), |i| samples[i].latency_ns)?;
    let printed = PRINTED.iter().filter(|ppm| supported(d.n, **ppm));
    let percentiles = printed.map(|ppm| {
        let rank = nearest_rank(d.n, *ppm) as usize;
        let name = format!("{}_ns", Stat::Percentile(*ppm));
        (name, samples[rank - 1].latency_ns)
    });
    Some(Summary {
        min_ns: d.min,
        mean_ns: d.mean,
        max_ns: d.max,
        sd_ns: d.sd,
        median_ns: d.median,
        mad_ns: d.mad,
        percentiles: percentiles.collect(),
        lap_mean_ns,
        overruns,
    })
}

/// Mean over complete laps of the mean hand-off of a lap.
fn lap_mean(samples: &[Sample], lap: usize) -> Option<f64> {
    let complete = samples.chunks_exact(lap);
    let laps = complete.len();
    let total: i64 = complete.flatten().map(|s| s.latency_ns).sum();
    (laps > 0).then(|| total as f64 / (laps * lap) as f64)
}

/// Flags samples about as long as the real-time throttle's pause: the kernel
/// takes the CPU from real-time tasks for the rest of its period.
pub fn flag_throttled(buffer: &mut SampleBuffer, pause_ns: Option<i64>) {
    let Some(pause) = pause_ns else { return };
    for s in buffer.as_mut_slice() {
        if s.latency_ns > pause / 5 * 4 && s.latency_ns < pause / 2 * 3 {
            s.flags |= flags::THROTTLED;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(latencies: &[i64]) -> SampleBuffer {
        let mut b = SampleBuffer::new(latencies.len()).unwrap();
        for (i, latency_ns) in latencies.iter().enumerate() {
            let s = Sample {
                latency_ns: *latency_ns,
                round: i as u32,
                flags: if i == 0 { flags::OVERRUN } else { 0 },
                ..Sample::default()
            };
            b.push(s);
        }
        b
    }

    #[test]
    fn figures_of_a_small_set() {
        let s = summarize(&mut buffer(&[30, 10, 20, 40, 50]), 2).unwrap();
        assert_eq!(
            (s.min_ns, s.max_ns, s.median_ns, s.mad_ns),
            (10, 50, 30, 10)
        );
        assert_eq!((s.mean_ns, s.overruns), (30.0, 1));
        assert_eq!(s.lap_mean_ns, Some(25.0), "the fifth is no complete lap");
        let keys: Vec<&str> = s.percentiles.keys().map(String::as_str).collect();
        assert_eq!(keys, ["p50_ns"], "five samples support no more");
        assert_eq!(summarize(&mut buffer(&[]), 1), None);
    }

    #[test]
    fn a_pause_of_the_throttle_is_flagged() {
        let mut b = buffer(&[3_000, 51_000_000, 49_000_000, 100_000_000]);
        flag_throttled(&mut b, Some(50_000_000));
        let hit = |s: &Sample| s.flags & flags::THROTTLED != 0;
        let flagged: Vec<bool> = b.as_slice().iter().map(hit).collect();
        assert_eq!(flagged, [false, true, true, false]);
    }
}
