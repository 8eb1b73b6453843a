// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The IIO device of the `rtperf-daq` driver: finding it, checking that its
//! scan is the documented one, streaming (docs/daq.md).

use crate::ProbeError;
use std::fs::{read_to_string, File};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

const DEVICES: &str = "/sys/bus/iio/devices";
const DRIVER: &str = "rtperf-daq";

/// Scan elements that we read, in the order of their index, and their type.
const ELEMENTS: [(&str, &str); 6] = [
    ("edge", "s64"),
    ("hardirq", "s64"),
    ("thread", "s64"),
    ("pushed", "s64"),
    ("sequence", "u32"),
    ("flags", "u32"),
];

/// Bytes of one scan with exactly those elements.
const SCAN: usize = 40;

/// Blocks that the kernel keeps for a reader that is late.
const KERNEL_BLOCKS: u32 = 1024;

/// The device lost a block before this one because it was not fetched in time.
pub const BLOCK_OVERRUN: u32 = 1;
/// Another edge came before this block was fetched: its stamp may be that one's.
pub const BLOCK_LATE: u32 = 1 << 1;

/// What the driver says of one block. Times are CLOCK_MONOTONIC, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scan {
    /// Programmed expiry of the device's timer.
    pub edge: i64,
    pub hardirq: i64,
    pub thread: i64,
    pub sequence: u32,
    pub flags: u32,
}

impl Scan {
    fn from_bytes(b: &[u8; SCAN]) -> Scan {
        let long = |at: usize| {
            let mut w = [0; 8];
            w.copy_from_slice(&b[at..at + 8]);
            i64::from_ne_bytes(w)
        };
        let word = |at: usize| u32::from_ne_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        Scan {
            edge: long(0),
            hardirq: long(8),
            thread: long(16),
            sequence: word(32),
            flags: word(36),
        }
    }
}

/// A device that can stream.
#[derive(Debug, Clone)]
pub struct Device {
    folder: PathBuf,
    node: PathBuf,
}

impl Device {
    /// The only device of the driver, or the one numbered `wanted`.
    pub fn find(wanted: Option<u32>) -> Result<Device, ProbeError> {
        Device::find_below(Path::new(DEVICES), wanted)
    }

    fn find_below(devices: &Path, wanted: Option<u32>) -> Result<Device, ProbeError> {
        let entries = std::fs::read_dir(devices).into_iter().flatten().flatten();
        let number = |e: std::fs::DirEntry| -> Option<u32> {
            let name = read_to_string(e.path().join("name")).ok()?;
            let is_ours = name.trim() == DRIVER && e.path().join("blocks").exists();
            let number = e.file_name().to_str()?.strip_prefix("iio:device")?.parse();
            number.ok().filter(|_| is_ours)
        };
        let mut found: Vec<u32> = entries.filter_map(number).collect();
        found.sort_unstable();
        let names = || {
            let names: Vec<String> = found.iter().map(|n| format!("iio:device{n}")).collect();
            names.join(", ")
        };
        let chosen = match (wanted, found.as_slice()) {
            (_, []) => Err(format!(
                "no IIO device of the driver {DRIVER} is on this board; load its modules \
                 (modprobe rtperf-daq-sim && modprobe rtperf-daq), or leave the measurement out"
            )),
            (Some(n), list) if list.contains(&n) => Ok(n),
            (Some(n), _) => Err(format!(
                "iio:device{n} is no {DRIVER} device; there is {}",
                names()
            )),
            (None, [one]) => Ok(*one),
            (None, _) => Err(format!(
                "there are several {DRIVER} devices ({}); choose one in the plan with device: N",
                names()
            )),
        };
        let name = format!("iio:device{}", chosen.map_err(ProbeError)?);
        Ok(Device {
            folder: devices.join(&name),
            node: Path::new("/dev").join(&name),
        })
    }

    /// Time from block to block, µs, as the device has it now.
    pub fn period_us(&self) -> Result<u32, ProbeError> {
        let text = self.get("block_period_us")?;
        let fault = |_| ProbeError(format!("block_period_us of {} is '{text}'", self.name()));
        text.parse().map_err(fault)
    }

    pub fn set_period_us(&self, period: u32) -> Result<(), ProbeError> {
        self.put("block_period_us", &period.to_string())
    }

    pub fn name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// A driver whose scan has changed must fail here, not in the figures.
    fn check_scan(&self) -> Result<(), ProbeError> {
        let endian = if cfg!(target_endian = "little") {
            "le"
        } else {
            "be"
        };
        for (i, (label, kind)) in ELEMENTS.iter().enumerate() {
            let bits = &kind[1..];
            let wanted = [
                (format!("in_count{i}_label"), (*label).to_owned()),
                (format!("scan_elements/in_count{i}_index"), i.to_string()),
                (
                    format!("scan_elements/in_count{i}_type"),
                    format!("{endian}:{kind}/{bits}>>0"),
                ),
            ];
            for (file, value) in wanted {
                let is = self.get(&file)?;
                if is != value {
                    return Err(ProbeError(format!(
                        "{} of {} is '{is}', not '{value}': the driver and rtperf-run are of \
                         different versions",
                        file,
                        self.name()
                    )));
                }
            }
        }
        Ok(())
    }

    /// Starts streaming the elements we read and no others.
    pub fn start(&self) -> Result<Stream, ProbeError> {
        self.check_scan()?;
        for i in 0..ELEMENTS.len() {
            self.put(&format!("scan_elements/in_count{i}_en"), "1")?;
        }
        for i in 0.. {
            let file = format!("scan_elements/in_voltage{i}_en");
            if !self.folder.join(&file).exists() {
                break;
            }
            self.put(&file, "0")?;
        }
        self.put("buffer/length", &KERNEL_BLOCKS.to_string())?;
        let file = File::open(&self.node)
            .map_err(|e| ProbeError(format!("{} cannot be opened: {e}", self.node.display())))?;
        self.put("buffer/enable", "1")?;
        Ok(Stream {
            device: self.clone(),
            file,
        })
    }

    fn get(&self, file: &str) -> Result<String, ProbeError> {
        let path = self.folder.join(file);
        let text = read_to_string(&path)
            .map_err(|e| ProbeError(format!("{} cannot be read: {e}", path.display())))?;
        Ok(text.trim().to_owned())
    }

    fn put(&self, file: &str, value: &str) -> Result<(), ProbeError> {
        let path = self.folder.join(file);
        std::fs::write(&path, value).map_err(|e| {
            let hint = match e.raw_os_error() {
                Some(libc::EBUSY) => "; is another program streaming from it?",
                Some(libc::EACCES | libc::EPERM) => "; run as root",
                _ => "",
            };
            let path = path.display();
            ProbeError(format!("{path} cannot be set to {value}: {e}{hint}"))
        })
    }
}

/// A device that streams; dropping it stops the device.
pub struct Stream {
    device: Device,
    file: File,
}

impl Stream {
    /// Waits for the next block. `None` when a signal interrupted the wait.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Scan>, ProbeError> {
        let mut bytes = [0u8; SCAN];
        match self.file.read(&mut bytes) {
            Ok(SCAN) => Ok(Some(Scan::from_bytes(&bytes))),
            Ok(n) => Err(ProbeError(format!("a block of {n} bytes came, not {SCAN}"))),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => Ok(None),
            Err(e) if e.raw_os_error() == Some(libc::ENODEV) => {
                Err(ProbeError(format!("{} went away", self.device.name())))
            }
            Err(e) => Err(ProbeError(format!("{}: {e}", self.device.name()))),
        }
    }

    /// Whether a block is there already.
    pub fn is_ready(&self) -> bool {
        let mut poll = libc::pollfd {
            fd: self.file.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one valid pollfd; a timeout of 0 does not wait.
        unsafe { libc::poll(&mut poll, 1, 0) > 0 }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // A device that has gone has stopped too.
        let _ = self.device.put("buffer/enable", "0");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(name: &str, devices: &[(u32, &str)]) -> PathBuf {
        let base = std::env::temp_dir().join(format!("rtperf-iio-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        for (n, driver) in devices {
            let folder = base.join(format!("iio:device{n}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("name"), format!("{driver}\n")).unwrap();
            std::fs::write(folder.join("blocks"), "0\n").unwrap();
        }
        base
    }

    #[test]
    fn the_device_is_found_by_its_driver() {
        let base = tree("one", &[(0, "ad7606"), (3, "rtperf-daq")]);
        assert_eq!(
            Device::find_below(&base, None).unwrap().name(),
            "iio:device3"
        );
        let e = Device::find_below(&base, Some(0)).unwrap_err();
        assert!(e.0.contains("iio:device0 is no rtperf-daq"), "{e}");
        std::fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn none_and_two_are_a_sentence_each() {
        let e = Device::find_below(Path::new("/nonexistent"), None).unwrap_err();
        assert!(e.0.contains("modprobe"), "{e}");
        let base = tree("two", &[(1, "rtperf-daq"), (0, "rtperf-daq")]);
        let e = Device::find_below(&base, None).unwrap_err();
        assert!(
            e.0.contains("iio:device0, iio:device1") && e.0.contains("device: N"),
            "{e}"
        );
        assert!(Device::find_below(&base, Some(1)).is_ok());
        std::fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn a_scan_is_read_field_by_field() {
        let mut b = [0u8; SCAN];
        for (at, value) in [(0, 10i64), (8, 11), (16, 12), (24, 13)] {
            b[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        }
        b[32..36].copy_from_slice(&7u32.to_ne_bytes());
        b[36..40].copy_from_slice(&2u32.to_ne_bytes());
        let scan = Scan::from_bytes(&b);
        assert_eq!((scan.edge, scan.hardirq, scan.thread), (10, 11, 12));
        assert_eq!((scan.sequence, scan.flags), (7, BLOCK_LATE));
    }
}
