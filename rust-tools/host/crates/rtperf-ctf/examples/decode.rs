// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Decodes every field of a trace and says how fast: `decode TRACE [ROUNDS [skip]]`.

use rtperf_ctf::{FieldInfo, Trace, Value, Visitor};

/// Folds every value into one number, so that none can be skipped.
#[derive(Default)]
struct Sum {
    sum: u64,
    fields: u64,
}

impl Visitor for Sum {
    const COMPOUNDS: bool = false;

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

/// CPU time of this thread so far: wall time says little on a busy machine.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns: f64 = text
        .split(' ')
        .next()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0.0);
    ns / 1e9
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("give a trace")?;
    let rounds: u32 = args.next().map_or(Ok(1), |n| n.parse())?;
    let every_field = args.next().is_none();
    for _ in 0..rounds {
        let start = cpu_seconds();
        let trace = Trace::open(path.as_ref())?;
        let opened = cpu_seconds() - start;
        let (mut sum, mut events, mut reader) = (Sum::default(), 0u64, trace.read());
        while let Some(event) = reader.next_event() {
            events += 1;
            if every_field {
                event.visit(&mut sum);
            }
        }
        let seconds = cpu_seconds() - start - opened;
        println!(
            "{events} events, {} fields, sum {:x}: opened in {:.1} ms, read in {:.1} CPU ms, {:.1} M events/s",
            sum.fields,
            sum.sum,
            opened * 1e3,
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
