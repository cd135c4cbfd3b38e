//! Why a capture could not be read, or not to its end.

use std::io;

/// Offsets are those in the file, of compressed files in what they unpack to.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The system says no.
    #[error("{0}")]
    Io(io::Error),
    /// It is not a capture.
    #[error("byte {offset}: {what}")]
    Format {
        /// Where.
        offset: u64,
        /// What is there instead.
        what: String,
    },
    /// It ends inside a record.
    #[error("byte {offset}: the file is cut off inside {what}; {packets} packets were read up to there")]
    Cut {
        /// Where the record begins.
        offset: u64,
        /// Packets read before it.
        packets: u64,
        /// What is cut.
        what: String,
    },
    /// It holds what cannot be.
    #[error("byte {offset}: the file is damaged: {what}; {packets} packets were read up to there")]
    Corrupt {
        /// Where the record begins.
        offset: u64,
        /// Packets read before it.
        packets: u64,
        /// What is wrong.
        what: String,
    },
    /// Its connections take more memory than they may.
    #[error(
        "the {connections} connections of the first {packets} packets take more than the {megabytes} MB that they may: the \
         rest was not read; choose packets with --filter, or allow more with --memory"
    )]
    Full {
        /// Packets read.
        packets: u64,
        /// Connections found in them.
        connections: usize,
        /// What they may take.
        megabytes: u64,
    },
    /// A filter that says nothing.
    #[error("filter: {0}")]
    Filter(String),
}
