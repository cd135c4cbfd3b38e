//! `--qlog DIR`: a file `FLOW-CONNECTION-SIDE.sqlog` for each end of each connection, a JSON text sequence.

use std::fs::File;
use std::io::{self, BufWriter};
use std::sync::Arc;

use ecnlab_engine::Plan;
use ecnlab_quic::Qlog;

/// Logs all connections of `plan` in `folder`.
pub fn set(plan: &mut Plan, folder: &str) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for flow in &mut plan.flows {
        for settings in flow.quic.iter_mut().flatten() {
            let (folder, flow) = (folder.to_owned(), flow.name.clone());
            let qlog = Qlog::new(move |end| Box::new(create(&format!("{folder}/{flow}-{end}.sqlog"))));
            Arc::make_mut(settings).qlog = Some(qlog);
        }
    }
    Ok(())
}

/// An empty file, or the end of the program.
fn create(path: &str) -> BufWriter<File> {
    BufWriter::new(File::create(path).unwrap_or_else(|error| {
        eprintln!("{path}: {error}");
        std::process::exit(1)
    }))
}
