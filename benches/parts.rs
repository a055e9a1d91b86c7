//! What the native parts cost: `cargo bench --bench parts [-- RECORDS]`, 10,000 records by default.
//!
//! Each line is the median and the 99th percentile of single calls. The memory is Linux's figure for the process, the records given back before.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foreword::embed::{EmbeddingModel, HashEmbedder, quantize};
use foreword::engine::{Config, Engine, Request};
use foreword::index::{Nearly, Probe};
use foreword::memory::Record;
use foreword::snapshot::{IndexConfig, Segment, SnapshotBuilder};
use foreword::text::tokenize;
use foreword::write::Nonce;

const WORDS: usize = 50_000;
const TOPICS: usize = 400;
const TOPIC_WORDS: usize = 90;
const PROMPTS: usize = 300;
const LIMIT: usize = 10;

/// Numbers by the generator SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Below `limit`, low numbers far more often: about as words are in texts.
    fn ranked(&mut self, limit: usize) -> usize {
        let share = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((((limit + 25) as f64 / 25.0).powf(share) - 1.0) * 25.0) as usize % limit
    }
}

/// A word of two to four syllables for each number.
fn word(number: usize) -> String {
    const HEADS: [&str; 16] = ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr"];
    const TAILS: [&str; 12] = ["a", "e", "i", "o", "u", "an", "er", "in", "ol", "ur", "ea", "is"];
    let (mut left, mut word) = (number + HEADS.len() * TAILS.len(), String::new());
    while left > 0 {
        word.push_str(HEADS[left % HEADS.len()]);
        left /= HEADS.len();
        word.push_str(TAILS[left % TAILS.len()]);
        left /= TAILS.len();
    }
    word
}

/// Statements of 20 to 60 words, two in five of them words of grammar, and prompts of words that stand in one statement.
fn corpus(records: usize) -> (Vec<Record>, Vec<String>) {
    const GRAMMAR: [&str; 12] = ["the", "of", "and", "to", "in", "that", "was", "with", "for", "it", "we", "on"];
    let words: Vec<String> = (0..WORDS).map(word).collect();
    let mut random = Random(5);
    let topics: Vec<Vec<usize>> =
        (0..TOPICS).map(|_| (0..TOPIC_WORDS).map(|_| random.ranked(WORDS)).collect()).collect();
    let mut prompts = Vec::new();
    let every = (records / PROMPTS).max(1);
    let records = (0..records).map(|number| {
        let topic = &topics[random.below(TOPICS)];
        let length = 20 + random.below(41);
        let mut chosen = Vec::with_capacity(length);
        for _ in 0..length {
            chosen.push(match random.below(10) {
                0..=3 => GRAMMAR[random.below(GRAMMAR.len())],
                4..=6 => words[topic[random.ranked(TOPIC_WORDS)]].as_str(),
                _ => words[random.ranked(WORDS)].as_str(),
            });
        }
        if number % every == 0 && prompts.len() < PROMPTS {
            let asked: Vec<&str> = chosen.iter().filter(|word| word.len() > 4).take(2 + number % 5).copied().collect();
            prompts.push(format!("What do you know about the {}?", asked.join(" and the ")));
        }
        Record::new(number.to_string(), chosen.join(" "))
    });
    let records = records.collect();
    (records, prompts)
}

fn line(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let micros = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize].as_secs_f64() * 1e6;
    println!("{what:<28} {:>12.1} µs {:>12.1} µs", micros(0.5), micros(0.99));
}

/// Each of the inputs once to warm up, and once timed.
fn time<T, R>(what: &str, inputs: &[T], run: impl FnMut(&T) -> R) {
    let mut run = run;
    inputs.iter().for_each(|input| drop(black_box(run(input))));
    let times = inputs.iter().map(|input| {
        let start = Instant::now();
        let result = black_box(run(black_box(input)));
        let elapsed = start.elapsed();
        drop(result);
        elapsed
    });
    line(what, times.collect());
}

fn resident_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? * 1024.0 / 1e6)
}

fn main() {
    let count = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(10_000);
    eprintln!("making {count} records");
    let (records, prompts) = corpus(count);
    let texts: Vec<String> = records.iter().take(1000).map(|record| record.statement.clone()).collect();
    let model: Arc<HashEmbedder> = Arc::new(HashEmbedder);
    println!("{:<28} {:>15} {:>15}", format!("{count} records"), "median", "99 %");

    time("tokenize a statement", &texts, |text| {
        let mut tokens = 0;
        tokenize(text, &mut |_| tokens += 1);
        tokens
    });
    let mut vector = vec![0.0; model.dimensions()];
    time("embed a statement", &texts, |text| model.embed(text, &mut vector));

    eprintln!("building");
    let start = Instant::now();
    let mut builder = SnapshotBuilder::new(IndexConfig::default(), Some(model.clone()));
    records.into_iter().for_each(|record| builder.add(record).expect("the ids are unique"));
    let mut said = 0;
    while !builder.step(1024) {
        let tenth = (builder.progress() * 10.0) as usize;
        if tenth > said {
            said = tenth;
            eprintln!("  {} %, {:.0} s", 10 * said, start.elapsed().as_secs_f64());
        }
    }
    let bytes = builder.finish().expect("it fits into a snapshot");
    println!("{:<28} {:>12.2} s", "build", start.elapsed().as_secs_f64());
    println!("{:<28} {:>12.1} MB", "snapshot", bytes.len() as f64 / 1e6);

    let copies: Vec<Vec<u8>> = vec![bytes.clone(); if count > 100_000 { 1 } else { 10 }];
    line(
        "load",
        copies
            .into_iter()
            .map(|copy| {
                let start = Instant::now();
                let engine = Engine::load(copy, Config::default(), Some(model.clone())).expect("it was just built");
                let elapsed = start.elapsed();
                drop(engine);
                elapsed
            })
            .collect(),
    );

    let segment = Segment::from_bytes(bytes).expect("it was just built");
    let probes: Vec<Probe> = prompts
        .iter()
        .map(|prompt| {
            model.embed(prompt, &mut vector);
            Probe::new(&quantize(&vector))
        })
        .collect();
    let mut buffers = Nearly::default();
    time("nearest vectors", &probes, |probe| {
        let near = segment.vectors().nearly(probe, 64, None, &mut buffers);
        segment.vectors().similarities(near, probe).map(|(_, similarity)| similarity).fold(0.0, f32::max)
    });
    let bytes = segment.bytes().to_vec();
    drop(segment);

    let load = |bytes: Vec<u8>, semantic_timeout_ms: f64| {
        let mut config = Config::default();
        config.semantic_timeout_ms = semantic_timeout_ms;
        let mut engine = Engine::load(bytes, config, Some(model.clone())).expect("it was just built");
        engine.set_nonce(Nonce::from_bytes(&[7; 12]).expect("twelve bytes are enough"));
        engine
    };
    let ask = |prompt: &String| Request { prompt: prompt.clone(), limit: Some(LIMIT), ..Request::default() };
    let words = load(bytes, 0.0);
    time("search, words alone", &prompts, |prompt| words.run(words.search(ask(prompt)).expect("a prompt")));
    let bytes = words.store().base().bytes().to_vec();
    drop(words);
    let engine = load(bytes, Config::default().semantic_timeout_ms);
    time("search", &prompts, |prompt| engine.run(engine.search(ask(prompt)).expect("a prompt")));
    time("recall", &prompts, |prompt| engine.run(engine.recall(ask(prompt)).expect("a prompt and a nonce")));
    if let Some(megabytes) = resident_megabytes() {
        println!("{:<28} {megabytes:>12.1} MB", "memory of the process");
    }
}
