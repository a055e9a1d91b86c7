// The other side of the module's src/wasm/pack.rs: a result out of one string and one array of numbers.

const FRESHNESS = ['undated', 'fresh', 'aging', 'stale', 'historical'];
const FLAGS = ['instructionLike', 'conflicting', 'truncated'];
const STATUS = ['ok', 'timeout', 'error', 'aborted'];

/** Reads a result: the same fields in the same order as the module writes them. */
export function unpackResult(text, numbers) {
  let at = 0;
  let next = 0;
  const number = () => numbers[next++];
  const flag = () => numbers[next++] === 1;
  const string = () => {
    const start = at;
    at += numbers[next++];
    return start === at ? '' : text.slice(start, at);
  };
  const list = (read) => {
    const items = [];
    for (let left = numbers[next++]; left > 0; left--) items.push(read());
    return items;
  };
  const optional = (read) => (numbers[next++] === 1 ? read() : null);

  const request = () => ({ providerId: string(), query: string(), reason: string(), limit: number() });
  const shape = () => ({
    question: flag(),
    advice: flag(),
    definition: flag(),
    whether: flag(),
    would: flag(),
    own: flag(),
    wish: flag(),
    addressed: flag(),
    articles: number(),
  });
  const signals = () => ({
    coverage: number(),
    matchedIdf: number(),
    matched: list(string),
    missing: list(string),
    records: number(),
    topicalTerms: number(),
    names: list(string),
    exact: flag(),
    topic: number(),
    similarity: number(),
    nearness: number(),
    runnerUp: number(),
    rarity: number(),
    absent: number(),
    unknownNames: list(string),
    tasks: number(),
    shape: shape(),
    length: number(),
    continuity: optional(string),
    command: flag(),
    personal: flag(),
    dated: flag(),
  });
  const plan = () => ({
    shouldRetrieve: flag(),
    confidence: number(),
    topics: list(string),
    requests: list(request),
    reason: string(),
    stage: number(),
    signals: signals(),
  });

  const component = () => ({ name: string(), value: number(), contribution: number() });
  const source = () => ({ providerId: string(), id: string(), uri: string(), session: string(), speaker: string() });
  const mark = () => FLAGS[number()];
  const scope = () => {
    const dimensions = {};
    for (let left = number(); left > 0; left--) Object.defineProperty(dimensions, string(), property(string()));
    return dimensions;
  };
  const evidence = () => ({
    id: string(),
    providerId: string(),
    topic: optional(string),
    kind: string(),
    title: string(),
    subject: string(),
    predicate: string(),
    text: string(),
    freshness: FRESHNESS[number()],
    changed: optional(string),
    scope: scope(),
    unresolved: flag(),
    score: number(),
    components: list(component),
    reasons: list(string),
    sources: list(source),
    flags: list(mark),
    conflictsWith: list(string),
  });

  const block = () => ({
    text: string(),
    catalog: string(),
    recall: string(),
    included: list(string),
    omitted: number(),
    shortened: number(),
    catalogOmitted: number(),
    fingerprint: string(),
    neutralized: number(),
    catalogTokens: number(),
    recallTokens: number(),
  });
  const provider = () => ({
    id: string(),
    status: STATUS[number()],
    elapsedMs: number(),
    results: number(),
    rejected: number(),
    truncated: number(),
    message: optional(string),
  });
  const degradation = () => ({ part: string(), message: string() });
  const preparation = () => ({ sourceTurn: number(), firstTurn: number(), expires: optional(string), served: flag() });

  return {
    plan: plan(),
    evidence: list(evidence),
    block: block(),
    providers: list(provider),
    degraded: list(degradation),
    revision: string(),
    overlayRevision: number(),
    prepared: optional(preparation),
  };
}

/** A dimension is defined rather than assigned: one that is called `__proto__` is a name like any other. */
function property(value) {
  return { value, writable: true, enumerable: true, configurable: true };
}
