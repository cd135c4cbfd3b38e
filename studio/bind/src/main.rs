//! `bind MODULE.wasm FOLDER`: writes MODULE and its JavaScript interface for browsers to FOLDER.

use std::env::args;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let [_, module, folder] = &args().collect::<Vec<_>>()[..] else {
        eprintln!("usage: bind MODULE.wasm FOLDER");
        return ExitCode::from(2);
    };
    let written = Bindgen::new().web(true).and_then(|bindgen| bindgen.typescript(true).input_path(module).generate(folder));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::FAILURE
        }
    }
}
