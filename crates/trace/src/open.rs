//! Files of any format.

use crate::{Error, Format, Result, Sink, Source, dht, rapid, roadrunner, text};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// How much of a file is looked at to tell its format.
const PEEK: usize = 4096;

/// Opens a trace. The content decides what it is if it is unmistakable, else the name.
pub fn open(path: &Path) -> Result<Box<dyn Source>> {
    let mut file = File::open(path).map_err(|error| Error::io(path, error))?;
    let metadata = file.metadata().map_err(|error| Error::io(path, error))?;
    let mut start = Vec::new();
    file.by_ref()
        .take(PEEK as u64)
        .read_to_end(&mut start)
        .map_err(|error| Error::io(path, error))?;
    let format = recognise(&start).or_else(|| Format::of_path(path));
    let Some(format) = format else {
        return Err(Error::UnknownFormat {
            path: path.to_owned(),
        });
    };
    if metadata.is_file() {
        file.seek(SeekFrom::Start(0))
            .map_err(|error| Error::io(path, error))?;
        return open_as(file, format, Some(metadata.len()));
    }
    // A pipe cannot go back; what was looked at is put in front again.
    let input = Cursor::new(start).chain(file);
    match format {
        Format::Dht => {
            let mut bytes = Vec::new();
            let mut input = input;
            input
                .read_to_end(&mut bytes)
                .map_err(|error| Error::io(path, error))?;
            open_as(Cursor::new(bytes), format, None)
        }
        _ => open_text(input, format, None),
    }
}

/// Reads a trace of a known format.
pub fn open_as<R: Read + Seek + 'static>(
    input: R,
    format: Format,
    total: Option<u64>,
) -> Result<Box<dyn Source>> {
    match format {
        Format::Dht => Ok(Box::new(dht::Reader::new(BufReader::with_capacity(
            64 << 10,
            input,
        ))?)),
        _ => open_text(input, format, total),
    }
}

fn open_text<R: Read + 'static>(input: R, format: Format, total: Option<u64>) -> Result<Box<dyn Source>> {
    Ok(match format {
        Format::Std => Box::new(rapid::read(input, total)),
        Format::RoadRunner => Box::new(roadrunner::read(input, total)),
        Format::Text | Format::Dht => Box::new(text::read(input, total)),
    })
}

/// Starts a trace in the format that the file's name asks for.
pub fn create(path: &Path) -> Result<Box<dyn Sink>> {
    let format = Format::of_path(path).ok_or_else(|| Error::UnknownFormat {
        path: path.to_owned(),
    })?;
    if format == Format::RoadRunner {
        let message = "RoadRunner traces can only be read; write .dht, .std or .txt";
        return Err(Error::io(
            path,
            io::Error::new(io::ErrorKind::Unsupported, message),
        ));
    }
    let file = File::create(path).map_err(|error| Error::io(path, error))?;
    create_as(BufWriter::with_capacity(256 << 10, file), format)
}

/// Starts a trace in a given format (RoadRunner's counts as text: it cannot be written).
pub fn create_as<W: io::Write + 'static>(output: W, format: Format) -> Result<Box<dyn Sink>> {
    Ok(match format {
        Format::Dht => Box::new(dht::WriterSink::new(output)?),
        Format::Std => Box::new(rapid::Printer::new(output)),
        Format::Text | Format::RoadRunner => Box::new(text::Printer::new(output)),
    })
}

/// The format of a file that starts like this, if there can be no doubt.
pub fn recognise(start: &[u8]) -> Option<Format> {
    if start.starts_with(&dht::MAGIC) {
        return Some(Format::Dht);
    }
    let mut lines = start.split(|&byte| byte == b'\n');
    let first = lines.next()?;
    let bars = first.iter().filter(|&&byte| byte == b'|').count();
    if bars == 2
        && rapid::read(first, None)
            .next_block(&mut Vec::new())
            .is_ok_and(|some| some)
    {
        return Some(Format::Std);
    }
    None
}
