// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a board's kernel writes, event by event.

use crate::support::*;

const KERNEL: &str = r#"
typealias integer { size = 8; align = 8; encoding = UTF8; } := char8;
typealias integer { size = 32; align = 8; signed = true; } := i32;
typealias integer { size = 64; align = 8; signed = true; } := i64;
event { id = 0; name = "irq_handler_entry"; stream_id = 0; fields := struct { i32 _irq; string _name; }; };
event { id = 1; name = "irq_handler_exit"; stream_id = 0; fields := struct { i32 _irq; i32 _ret; }; };
event { id = 2; name = "sched_switch"; stream_id = 0; fields := struct {
    char8 _prev_comm[16]; i32 _prev_tid; i64 _prev_state; char8 _next_comm[16]; i32 _next_tid; }; };
event { id = 3; name = "sched_waking"; stream_id = 0; fields := struct { char8 _comm[16]; i32 _tid; }; };
event { id = 4; name = "irq_softirq_entry"; stream_id = 0; fields := struct { uint32_t _vec; }; };
event { id = 5; name = "irq_softirq_exit"; stream_id = 0; fields := struct { uint32_t _vec; }; };
event { id = 6; name = "timer_hrtimer_start"; stream_id = 0; fields := struct { uint64_t _hrtimer; uint64_t _function; i64 _expires; }; };
event { id = 7; name = "timer_hrtimer_expire_entry"; stream_id = 0; fields := struct { uint64_t _hrtimer; i64 _now; uint64_t _function; }; };
event { id = 8; name = "timer_hrtimer_expire_exit"; stream_id = 0; fields := struct { uint64_t _hrtimer; }; };
event { id = 10; name = "rtperf_daq_thread"; stream_id = 0; fields := struct { i32 _device; uint32_t _edge; i64 _time_ns; }; };
event { id = 11; name = "rtperf_daq_i2c_start"; stream_id = 0; fields := struct { i32 _device; uint8_t _command; }; };
event { id = 12; name = "rtperf_daq_i2c_done"; stream_id = 0; fields := struct { i32 _device; uint8_t _command; i32 _error; }; };
event { id = 13; name = "rtperf_daq_spi_start"; stream_id = 0; fields := struct { i32 _device; uint32_t _length; }; };
event { id = 14; name = "rtperf_daq_spi_done"; stream_id = 0; fields := struct { i32 _device; uint32_t _length; i32 _error; }; };
event { id = 15; name = "rtperf_daq_pushed"; stream_id = 0; fields := struct { i32 _device; uint32_t _sequence; uint32_t _flags;
    i64 _edge_ns; i64 _hardirq_ns; i64 _thread_ns; i64 _pushed_ns; }; };
event { id = 16; name = "rtperf_daq_lost"; stream_id = 0; fields := struct { i32 _device; uint32_t _sequence; uint32_t _count; }; };
"#;

/// Events of one CPU.
pub struct Cpu(pub Packet);

impl Cpu {
    pub fn new(cpu: u64) -> Cpu {
        let mut p = Packet::new(false, 0, 1 << 40);
        p.cpu = cpu;
        Cpu(p)
    }

    pub fn at(&mut self, time: u64, id: u64) -> &mut Bits {
        extended(&mut self.0.events, id, time)
    }

    pub fn irq(&mut self, from: u64, to: u64, number: u64, name: &str) -> &mut Cpu {
        self.at(from, 0).int(number, 32).text(name);
        self.at(to, 1).int(number, 32).int(1, 32);
        self
    }

    pub fn switch(&mut self, time: u64, prev: u64, state: u64, next: u64) -> &mut Cpu {
        let comm = |tid: u64| {
            let mut name = format!("t{tid}").into_bytes();
            name.resize(16, 0);
            name
        };
        self.at(time, 2)
            .bytes(&comm(prev))
            .int(prev, 32)
            .int(state, 64)
            .bytes(&comm(next))
            .int(next, 32);
        self
    }

    pub fn wake(&mut self, time: u64, tid: u64) -> &mut Cpu {
        let name = [&b"t"[..], tid.to_string().as_bytes(), &[0; 15]].concat();
        self.at(time, 3).bytes(&name[..16]).int(tid, 32);
        self
    }
}

pub fn kernel() -> String {
    metadata(false, "freq = 1000000000;", &format!("{COMPACT}{KERNEL}"))
}

pub fn block(cpu: &mut Cpu, t: u64, flags: u64, clock: u64) {
    cpu.at(t + 300, 10).int(0, 32).int(1, 32).int(t + 290, 64);
    cpu.at(t + 400, 11).int(0, 32).int(9, 8);
    cpu.at(t + 550, 12).int(0, 32).int(9, 8).int(0, 32);
    cpu.at(t + 600, 13).int(0, 32).int(64, 32);
    cpu.at(t + 800, 14).int(0, 32).int(64, 32).int(0, 32);
    let bits = cpu.at(t + 900, 15).int(0, 32).int(1, 32).int(flags, 32);
    for stamp in [t, t + 100, t + 290, t + 890] {
        bits.int(stamp + clock, 64);
    }
}
