// The other side of the module's src/wasm/pack.rs: results out of one string and one array of numbers.

const FRESHNESS = ['undated', 'fresh', 'aging', 'stale', 'historical'];
const FLAGS = ['instructionLike', 'conflicting', 'truncated'];

/** Reads results: the same fields in the same order as the module writes them. */
export function unpackEvidence(text, numbers) {
  let at = 0;
  let next = 0;
  const number = () => numbers[next++];
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
  const component = () => ({ name: string(), value: number(), contribution: number() });
  const source = () => ({ providerId: string(), id: string(), uri: string(), session: string(), speaker: string() });
  const flag = () => FLAGS[number()];
  const optional = () => {
    const given = number();
    const value = string();
    return given ? value : null;
  };
  const scope = () => {
    const dimensions = {};
    for (let left = number(); left > 0; left--) Object.defineProperty(dimensions, string(), property(string()));
    return dimensions;
  };
  return list(() => ({
    id: string(),
    providerId: string(),
    topic: optional(),
    kind: string(),
    title: string(),
    subject: string(),
    predicate: string(),
    text: string(),
    freshness: FRESHNESS[number()],
    changed: optional(),
    scope: scope(),
    unresolved: number() === 1,
    score: number(),
    components: list(component),
    reasons: list(string),
    sources: list(source),
    flags: list(flag),
    conflictsWith: list(string),
  }));
}

/** A dimension is defined rather than assigned: one that is called `__proto__` is a name like any other. */
function property(value) {
  return { value, writable: true, enumerable: true, configurable: true };
}
