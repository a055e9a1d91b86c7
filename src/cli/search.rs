use super::failure::Failure;
use super::output::{Output, plain};
use super::recall::{Asked, show};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    asked: Asked,
}

pub fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let (engine, remark) = args.asked.snapshot.load(|_| ())?;
    let result = engine.run(engine.search(args.asked.request())?);
    if let Some(remark) = remark {
        eprintln!("{}", plain(&remark));
    }
    if output.is_json() { output.json(&result) } else { show(output, &engine, &result) }
}
