// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Decodes every field of a trace and says how fast: `decode TRACE [ROUNDS]`.

use rtperf_ctf::{FieldInfo, Trace, Value, Visitor};
use std::time::Instant;

/// Folds every value into one number, so that none can be skipped.
#[derive(Default)]
struct Sum {
    sum: u64,
    fields: u64,
}

impl Visitor for Sum {
    #[inline(always)]
    fn value(&mut self, _: &FieldInfo, value: Value<'_>) {
        self.fields += 1;
        let bits = match value {
            Value::Uint(n) => n,
            Value::Int(n) => n as u64,
            Value::Float(f) => f.to_bits(),
            Value::Text(t) => t.len() as u64,
            Value::Ints(array) => array.len(),
        };
        self.sum = self.sum.wrapping_add(bits);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("give a trace")?;
    let rounds: u32 = args.next().map_or(Ok(1), |n| n.parse())?;
    for _ in 0..rounds {
        let start = Instant::now();
        let trace = Trace::open(path.as_ref())?;
        let opened = start.elapsed();
        let (mut sum, mut events, mut reader) = (Sum::default(), 0u64, trace.read());
        while let Some(event) = reader.next_event() {
            events += 1;
            event.visit(&mut sum);
        }
        let seconds = (start.elapsed() - opened).as_secs_f64();
        println!(
            "{events} events, {} fields, sum {:x}: opened in {:.1} ms, read in {:.1} ms, {:.1} M events/s",
            sum.fields,
            sum.sum,
            opened.as_secs_f64() * 1e3,
            seconds * 1e3,
            events as f64 / seconds / 1e6,
        );
        for fault in trace
            .diagnostics()
            .list()
            .iter()
            .chain(reader.diagnostics().list())
        {
            eprintln!("{fault}");
        }
    }
    Ok(())
}
