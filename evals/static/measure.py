"""What the table is worth: LoCoMo recall@10, Cranfield nDCG@10, similarity as a gate signal.

The data sets are read from a folder outside the repository and never fitted on.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

STOP = set(
    """a about after all also am an and any are as at be been being but by can could did do does doing for from had has have
    having he her hers him his how i if in into is it its just me more most my no not of on or other our ours out over own
    she should so some such than that the their theirs them then there these they this those to too up very was we were
    what when where which who whom whose why will with would you your yours""".split()
)


class BM25:
    def __init__(self, texts: list[str], stem, k1: float = 0.9, b: float = 0.3):
        self.stem = stem
        docs = [self.words(t) for t in texts]
        average = sum(map(len, docs)) / max(1, len(docs)) or 1.0
        df = Counter(w for d in docs for w in set(d))
        self.postings = defaultdict(list)
        for i, d in enumerate(docs):
            for w, tf in Counter(d).items():
                idf = math.log(1 + (len(docs) - df[w] + 0.5) / (df[w] + 0.5))
                self.postings[w].append((i, idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(d) / average))))
        self.count = len(docs)

    def words(self, text: str) -> list[str]:
        return [self.stem(w) for w in re.findall(r"[a-z0-9]+", text.lower().replace("'s", "")) if w not in STOP]

    def scores(self, query: str) -> np.ndarray:
        out = np.zeros(self.count, np.float32)
        for w in self.words(query):
            for i, s in self.postings.get(w, ()):
                out[i] += s
        return out


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


def minmax(s: np.ndarray) -> np.ndarray:
    low, high = s.min(), s.max()
    return (s - low) / (high - low) if high > low else np.zeros_like(s)


def auc(positive: np.ndarray, negative: np.ndarray) -> float:
    both = np.concatenate([positive, negative])
    ranks = np.empty(len(both))
    ranks[np.argsort(both, kind="stable")] = np.arange(1, len(both) + 1)
    for value in np.unique(both[np.isin(both, positive) & np.isin(both, negative)]):
        ranks[both == value] = ranks[both == value].mean()
    n, m = len(positive), len(negative)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


class Suite:
    def __init__(self, data: Path):
        import snowballstemmer

        stemmer = snowballstemmer.stemmer("english")
        cache: dict[str, str] = {}

        def stem(w):
            if w not in cache:
                cache[w] = stemmer.stemWord(w)
            return cache[w]

        self.tasks, self.gates = [], []
        negatives = [n["text"] for n in lines(data / "negatives-dev" / "negatives.jsonl")]
        for folder in sorted((data / "locomo-dev").iterdir()):
            turns = lines(folder / "corpus.jsonl")
            observations = lines(folder / "observations.jsonl")
            queries = [q for q in lines(folder / "queries.jsonl") if q["category"] in (1, 2, 3, 4)]
            speakers = json.loads((folder / "meta.json").read_text())["speakers"]
            known = {t["id"] for t in turns}
            covered = {e for o in observations for e in o["evidence"]}
            for kind, docs, ids, pool in (
                ("turns", [f"{t['speaker']}: {t['text']}" for t in turns], [[t["id"]] for t in turns], known),
                ("observations", [o["text"] for o in observations], [o["evidence"] for o in observations], covered),
            ):
                asked = [(q["text"], [e for e in q["evidence"] if e in pool]) for q in queries]
                asked = [(t, e) for t, e in asked if e]
                bm = BM25(docs, stem)
                lexical = np.stack([bm.scores(t) for t, _ in asked])
                self.tasks.append((kind, docs, ids, asked, lexical))
            mask = re.compile("|".join(rf"\b{re.escape(s)}('s)?\b" for s in speakers))
            named = [q["text"] for q in queries]
            masked = [" ".join(mask.sub("", t).split()) for t in named]
            self.gates.append(([o["text"] for o in observations], named, masked, negatives))
        docs = lines(data / "cranfield" / "corpus.jsonl")
        queries = lines(data / "cranfield" / "queries.jsonl")
        texts = [d["text"] for d in docs]
        bm = BM25(texts, stem)
        self.cran = (texts, [d["id"] for d in docs], queries, np.stack([bm.scores(q["text"]) for q in queries]))

    def texts(self) -> list[str]:
        out = dict.fromkeys(self.cran[0] + [q["text"] for q in self.cran[2]])
        for _, docs, _, asked, _ in self.tasks:
            out.update(dict.fromkeys(docs + [t for t, _ in asked]))
        for docs, named, masked, negatives in self.gates:
            out.update(dict.fromkeys(docs + named + masked + negatives))
        return list(out)

    def run(self, vectors: dict[str, np.ndarray], weight: float = 0.4, gate: bool = True) -> dict[str, float]:
        def get(texts):
            return unit(np.stack([vectors[t] for t in texts]).astype(np.float32))

        found: dict[str, list] = defaultdict(list)
        for kind, docs, ids, asked, lexical in self.tasks:
            similar = get([t for t, _ in asked]) @ get(docs).T
            for q, (_, gold) in enumerate(asked):
                merged = weight * minmax(similar[q]) + (1 - weight) * minmax(lexical[q])
                for name, s in (("alone", similar[q]), ("merged", merged), ("bm25", lexical[q])):
                    top = {e for i in np.argsort(-s, kind="stable")[:10] for e in ids[i]}
                    found[f"{kind} {name}"].append(sum(e in top for e in gold) / len(gold))
        texts, ids, queries, lexical = self.cran
        similar = get([q["text"] for q in queries]) @ get(texts).T
        for q, query in enumerate(queries):
            gold = set(query["evidence"])
            best = sum(1 / math.log2(i + 2) for i in range(min(10, len(gold)))) or 1.0
            merged = weight * minmax(similar[q]) + (1 - weight) * minmax(lexical[q])
            for name, s in (("alone", similar[q]), ("merged", merged), ("bm25", lexical[q])):
                top = np.argsort(-s, kind="stable")[:10]
                found[f"cranfield {name}"].append(sum(1 / math.log2(r + 2) for r, i in enumerate(top) if ids[i] in gold) / best)
        out = {k: float(np.mean(v)) for k, v in found.items()}
        if gate:
            figures = defaultdict(list)
            for docs, named, masked, negatives in self.gates:
                d = get(docs).T
                no = (get(negatives) @ d).max(1)
                short = no[[len(n.split()) <= 20 for n in negatives]]
                for name, asked in (("named", named), ("masked", masked)):
                    yes = (get(asked) @ d).max(1)
                    figures[f"gate {name}"].append(auc(yes, no))
                    figures[f"gate {name}, short negatives"].append(auc(yes, short))
                    figures[f"yes {name} at 1 %"].append(float((yes > np.quantile(no, 0.99)).mean()))
                    figures[f"yes {name} at 5 %"].append(float((yes > np.quantile(no, 0.95)).mean()))
            out |= {k: float(np.mean(v)) for k, v in figures.items()}
        return out


def show(title: str, figures: dict[str, float]) -> None:
    print(f"{title:34s}" + "  ".join(f"{k} {v:.3f}" for k, v in figures.items()), flush=True)
