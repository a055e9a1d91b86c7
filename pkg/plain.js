// What a caller gives, as plain data: what throws while it is read is the caller's mistake here, and in the module would be its end.

/** What the module reads as nothing that it wants, and passes over where it wants nothing. */
export const UNREADABLE = Symbol('unreadable');
/** How far down a record goes: its scope and its lists, and one for what it does not know. */
const DEEPEST = 3;

/** Options, a record or a topic as it is now; what JSON has another form for has that form. */
export function still(value, depth = 0) {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return UNREADABLE;
  if (Array.isArray(value)) return value.map((item) => still(item, depth + 1));
  if (typeof value.toJSON === 'function') return still(value.toJSON(), depth + 1);
  const isMap = value instanceof Map;
  if (!isMap && (Symbol.iterator in value || ArrayBuffer.isView(value))) return UNREADABLE;
  const fields = isMap ? [...value] : Object.entries(value);
  return Object.fromEntries(fields.map(([name, field]) => [name, still(field, depth + 1)]));
}
