"""Fits the weights of the decision (`GateConfig` in src/plan/confidence.rs) on what `foreword eval gate --dump-signals` wrote.

    foreword eval gate --stores DIR --negatives FILE [--mask-names] [--static FILE] --dump-signals DUMP
    python fit.py DUMP...

The weights that are shipped come from seven dumps: five conversations with names, with names masked, and the paraphrase suite as a store, each with the hash
embedder and with the static table; and the behavioural suite as one store, with its own prompts that need no memory.

L2-regularised logistic regression by Newton's method. The figures printed are cross-validated: stores and negatives that a fit is measured on had no part in
it. Each dump is one run; negatives that two runs share fall in the same fold. Needs numpy.
"""

import json
import sys
import zlib

import numpy as np

FOLDS = 5
RIDGE = 2.0
# What a row counts for, by its label; masked questions of other stores hardly say whose they are.
OTHER, OTHER_MASKED = 0.8, 0.05
# Short negatives are the hard ones, and questions that users ask about themselves are rare in conversations between two people.
SHORT_NEGATIVE, FIRST_PERSON = 2.0, 3.0
# Prompts that share words with a store on purpose.
NEAR_NEGATIVE = 25.0
# Set by hand: the data hardly has them.
PERSONAL, CONTINUITY = 0.8, 1.1
# One word in common is the commonest wrong yes in a store of many subjects; the data is of stores of two people.
LONE = -1.1
# Common words together, and stores larger than these.
MATCHED, RECORDS = 0.9, -0.25
# The share of short negatives that may get a yes.
SHORT_YES = 0.0195


def features(signals):
    """The same arithmetic as `Gate::new`."""
    shape, matched, back = signals["shape"], len(signals["matched"]), signals["continuity"] is not None
    evidence = matched >= 2 or signals["exact"] or signals["topic"] > 0 or signals["names"]
    whole = bool(evidence) or signals["topicalTerms"] <= 1
    return {
        "set": MATCHED * (min(max(matched, 2), 4) - 2) + RECORDS * np.log2(max(signals["records"], 200) / 200),
        "lone": (not whole) and signals["coverage"] < 0.5,
        "coverage": signals["coverage"] * (1.0 if whole else 0.5),
        "rarity": min(signals["rarity"], 4),
        "runner_up": signals["runnerUp"],
        "absent": signals["absent"],
        "nearness": signals["nearness"],
        "name": min(len(signals["names"]), 2),
        "unknown_name": min(len(signals["unknownNames"]), 2),
        "dated": signals["dated"] and whole,
        "task": min(signals["tasks"], 3),
        "command": signals["command"],
        "question": shape["question"] or back,
        "advice": shape["advice"],
        "definition": shape["definition"],
        "whether": shape["whether"],
        "would": shape["would"],
        "own": shape["own"],
        "order": signals["command"] and signals["tasks"] > 0,
        "wish": shape["wish"] and not back,
        "addressed": shape["addressed"] and not back,
        "article": min(shape["articles"], 2),
        "length": np.log2(max(signals["length"], 8) / 8),
    }


def main(paths):
    rows = []
    for run, path in enumerate(paths):
        with open(path, encoding="utf-8") as lines:
            rows += [dict(json.loads(line), run=run) for line in lines]
    names = list(features(rows[0]["signals"]))[2:]
    x = np.array([[float(features(row["signals"])[name]) for name in names] + [1.0] for row in rows])
    offset = np.array([
        PERSONAL * row["signals"]["personal"] + CONTINUITY * bool(row["signals"]["continuity"]) + LONE * features(row["signals"])["lone"]
        + features(row["signals"])["set"] for row in rows
    ])
    label = np.array([row["label"] for row in rows])
    masked, short = (np.array([row[key] for row in rows]) for key in ("masked", "short"))
    store, run = np.array([row["store"] for row in rows]), np.array([row["run"] for row in rows])
    stores = sorted(set(store))
    single = [one for one in stores if not ((store == one) & (label == "other")).any()]
    y = (label == "question").astype(float)

    weight = np.ones(len(rows))
    weight[label == "other"] = np.where(masked[label == "other"], OTHER_MASKED, OTHER)
    weight[(label == "negative") & short] = SHORT_NEGATIVE
    weight[(label == "question") & np.isin(store, single)] = FIRST_PERSON
    public = {row["id"] for row in rows if row["label"] == "negative" and row["run"] == 0}
    weight[[row["label"] == "negative" and row["id"] not in public for row in rows]] = NEAR_NEGATIVE
    fold = np.array([
        zlib.crc32(row["id"].encode()) % FOLDS if row["label"] == "negative" else stores.index(row["store"]) % FOLDS for row in rows
    ])

    def fit(chosen):
        a, t, w, o = x[chosen], y[chosen], weight[chosen], offset[chosen]
        ridge = np.eye(a.shape[1]) * RIDGE
        ridge[-1, -1] = 1e-6
        beta = np.zeros(a.shape[1])
        for _ in range(50):
            p = 1 / (1 + np.exp(-(a @ beta + o)))
            step = np.linalg.solve((a * (w * p * (1 - p))[:, None]).T @ a + ridge, a.T @ (w * (t - p)) - ridge @ beta)
            beta += step
            if np.abs(step).max() < 1e-8:
                break
        return beta

    def bar(scores):
        """The score from which just `SHORT_YES` of the short negatives of the first run get a yes."""
        hard = np.sort(scores[(label == "negative") & short & (run == 0)])[::-1]
        return hard[int(SHORT_YES * len(hard))] + 1e-9

    def report(title, scores, threshold):
        print(title)
        for number, path in enumerate(paths):
            of_run = run == number
            cells = []
            for kind, chosen in [("question", label == "question"), ("negative", label == "negative"),
                                 ("short", (label == "negative") & short), ("other", label == "other")]:
                shares = [(scores[of_run & chosen & (store == one)] >= threshold).mean() for one in stores if (of_run & chosen & (store == one)).any()]
                cells.append(f"{kind} {np.mean(shares):.4f}" if shares else "")
            print(f"  {path}: " + "  ".join(cells))

    held_out = np.zeros(len(rows))
    for number in range(FOLDS):
        held_out[fold == number] = (x @ fit(fold != number) + offset)[fold == number]
    report("cross-validated", held_out, bar(held_out))
    beta = fit(np.ones(len(rows), bool))
    scores = x @ beta + offset
    # Between what held-out prompts and known ones would ask for.
    threshold = (bar(held_out) + bar(scores)) / 2
    beta[-1] -= threshold
    report("fitted", scores, threshold)
    for name, value in zip(names + ["bias"], beta):
        print(f"            {name}: {value:.2f},")


main(sys.argv[1:])
