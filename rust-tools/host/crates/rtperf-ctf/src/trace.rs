// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! A trace on disk: its folders, metadata and mapped stream files.

use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::error::CtfError;
use crate::ir::Metadata;
use crate::layout::{self, EventClass, Layout};
use crate::mapped::{self, Mapped};
use crate::packet;
use crate::reader::Reader;
use crate::tsdl;
use std::path::{Path, PathBuf};

/// Folders below the one given are searched this deep.
const MAX_FOLDERS_DEEP: u32 = 12;
/// Metadata beyond this is not read: it is hostile.
const MAX_METADATA: u64 = 256 << 20;

/// An open trace: one folder with metadata, or all that lie below a folder
/// (kernel and user space, per user or process, rotated chunks).
pub struct Trace {
    parts: Vec<Part>,
    /// Files of the same stream in order: indices of part and file.
    streams: Vec<Vec<(usize, usize)>>,
    diagnostics: Diagnostics,
}

/// One folder with a metadata file.
pub(crate) struct Part {
    pub dir: PathBuf,
    pub metadata: Metadata,
    pub layout: Layout,
    pub files: Vec<StreamFile>,
    /// What a cursor without an event shows.
    pub nothing: EventClass,
}

pub(crate) struct StreamFile {
    pub path: PathBuf,
    data: Mapped,
}

impl StreamFile {
    pub fn data(&self) -> &[u8] {
        self.data.bytes()
    }
}

impl Trace {
    /// Opens every trace in `dir` and below. What cannot be read is in
    /// [`Trace::diagnostics`]; an error means that nothing can.
    pub fn open(dir: &Path) -> Result<Trace, CtfError> {
        let mut folders = vec![];
        find(dir, 0, &mut folders).map_err(|error| CtfError::Io {
            path: dir.to_owned(),
            error,
        })?;
        if folders.is_empty() {
            return Err(CtfError::NoTrace(dir.to_owned()));
        }
        folders.sort();
        let mut trace = Trace {
            parts: vec![],
            streams: vec![],
            diagnostics: Diagnostics::default(),
        };
        let (mut classes, mut first_error) = (0, None);
        for folder in folders {
            match Part::open(&folder, classes, &mut trace.diagnostics) {
                Ok(part) => {
                    classes += part
                        .layout
                        .streams
                        .iter()
                        .map(|s| s.events.len() as u32)
                        .sum::<u32>();
                    trace.parts.push(part);
                }
                Err(CtfError::Unreadable(d)) => {
                    trace.diagnostics.push(&d.file, d.place, d.message.clone());
                    first_error.get_or_insert(CtfError::Unreadable(d));
                }
                Err(e) => {
                    let file = folder.join("metadata");
                    trace.diagnostics.push(&file, Place::File, e.to_string());
                    first_error.get_or_insert(e);
                }
            }
        }
        if trace.parts.is_empty() {
            return Err(first_error.unwrap_or_else(|| CtfError::NoTrace(dir.to_owned())));
        }
        trace.streams = chains(&trace.parts);
        Ok(trace)
    }

    /// What was wrong when opening. Reading finds more: see
    /// [`Reader::diagnostics`].
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// All event classes with the metadata they are declared in; a class's
    /// index is its place here.
    pub fn classes(&self) -> impl Iterator<Item = (&EventClass, &Metadata)> {
        let parts = self.parts.iter();
        parts.flat_map(|p| {
            p.layout
                .streams
                .iter()
                .flat_map(|s| &s.events)
                .map(|e| (e, &p.metadata))
        })
    }

    /// The folders read, each with its metadata.
    pub fn folders(&self) -> impl Iterator<Item = (&Path, &Metadata)> {
        self.parts.iter().map(|p| (p.dir.as_path(), &p.metadata))
    }

    pub fn stream_count(&self) -> usize {
        self.streams.len()
    }

    /// All events of all streams in order of time.
    pub fn read(&self) -> Reader<'_> {
        let streams = self.streams.iter().map(|files| {
            files
                .iter()
                .map(|(p, f)| (&self.parts[*p], &self.parts[*p].files[*f]))
                .collect()
        });
        Reader::new(streams)
    }
}

impl Part {
    fn open(dir: &Path, first_class: u32, diagnostics: &mut Diagnostics) -> Result<Part, CtfError> {
        let file = dir.join("metadata");
        let io = |error| CtfError::Io {
            path: file.clone(),
            error,
        };
        let unreadable = |place, message: &str| {
            let message = message.to_owned();
            CtfError::Unreadable(Diagnostic {
                file: file.clone(),
                place,
                message,
            })
        };
        let size = std::fs::metadata(&file).map_err(io)?.len();
        if size == 0 {
            return Err(unreadable(
                Place::File,
                "the metadata is empty; its streams cannot be read",
            ));
        }
        if size > MAX_METADATA {
            return Err(unreadable(
                Place::File,
                "the metadata is larger than 256 MiB",
            ));
        }
        let raw = std::fs::read(&file).map_err(io)?;
        if raw.first() == Some(&0x1e) || raw.first() == Some(&b'{') {
            let message = "this is CTF 2; only CTF 1.8 can be read (LTTng: lttng create --trace-format=ctf-1.8)";
            return Err(unreadable(Place::File, message));
        }
        let (text, faults) = tsdl::text_of(&raw);
        for (at, message) in faults {
            diagnostics.push(&file, Place::Byte(at), message);
        }
        let (metadata, faults) = tsdl::parse(&text);
        for (line, message) in faults {
            let message = format!("{message}; this declaration is not read");
            diagnostics.push(&file, Place::Line(line), message);
        }
        let (layout, faults) = layout::compile(&metadata, first_class);
        for (line, message) in faults {
            let place = if line == 0 {
                Place::File
            } else {
                Place::Line(line)
            };
            diagnostics.push(&file, place, message);
        }
        if layout.streams.is_empty() {
            return Err(unreadable(
                Place::File,
                "the metadata declares no stream that can be read",
            ));
        }
        let files = stream_files(dir, diagnostics).map_err(io)?;
        Ok(Part {
            dir: dir.to_owned(),
            metadata,
            layout,
            files,
            nothing: EventClass::nothing(),
        })
    }
}

/// Folders that hold a file named metadata. Links are not followed below the
/// first: they could loop.
fn find(dir: &Path, depth: u32, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut below = vec![];
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            below.push(entry.path());
        } else if kind.is_file() && entry.file_name() == "metadata" {
            found.push(dir.to_owned());
        }
    }
    if depth < MAX_FOLDERS_DEEP {
        for folder in below {
            // A folder that cannot be entered holds nothing for us.
            let _ = find(&folder, depth + 1, found);
        }
    }
    Ok(())
}

fn stream_files(dir: &Path, diagnostics: &mut Diagnostics) -> std::io::Result<Vec<StreamFile>> {
    let mut paths = vec![];
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if entry.file_type()?.is_file() && !hidden && entry.file_name() != "metadata" {
            paths.push(entry.path());
        }
    }
    paths.sort();
    let mut files = vec![];
    for path in paths {
        match mapped::map(&path) {
            // An empty stream is no fault: nothing happened there.
            Ok(data) if data.bytes().is_empty() => {}
            Ok(data) => files.push(StreamFile { path, data }),
            Err(e) => diagnostics.push(&path, Place::File, e.to_string()),
        }
    }
    Ok(files)
}

/// Groups files that continue each other: same trace, stream and instance, as
/// rotated chunks and split trace files do.
fn chains(parts: &[Part]) -> Vec<Vec<(usize, usize)>> {
    let mut list = vec![];
    for (p, part) in parts.iter().enumerate() {
        for (f, file) in part.files.iter().enumerate() {
            let first = packet::open(file.data(), 0, &part.layout, part.metadata.uuid, &[]);
            let (key, begin) = match first {
                Ok((stream, packet)) => {
                    let roles = packet.roles;
                    let uuid = part.metadata.uuid.filter(|_| roles.instance.is_some());
                    let own = if uuid.is_some() { 0 } else { list.len() + 1 };
                    let id = part.layout.streams[stream].id;
                    ((uuid, id, roles.instance, own), roles.begin)
                }
                Err(_) => ((None, 0, None, list.len() + 1), None),
            };
            list.push((key, begin, (p, f)));
        }
    }
    list.sort();
    let mut out: Vec<(_, Vec<(usize, usize)>)> = vec![];
    for (key, _, at) in list {
        match out.last_mut() {
            Some((last, files)) if *last == key => files.push(at),
            _ => out.push((key, vec![at])),
        }
    }
    out.into_iter().map(|(_, files)| files).collect()
}
