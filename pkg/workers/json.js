// Where the values of a JSON text lie, so that it can be edited without being written anew. Every function takes a text that JSON.parse has accepted.

/** Position after the white space at `at`. */
function skip(text, at) {
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

/** Position after the string that begins at `at`. */
function endOfString(text, at) {
  for (let quote = at; ; ) {
    quote = text.indexOf('"', quote + 1);
    let slashes = quote;
    while (text.charCodeAt(slashes - 1) === 92) slashes--;
    if ((quote - slashes) % 2 === 0) return quote + 1;
  }
}

/** Position after the value that begins at `at`. */
function endOf(text, at) {
  let depth = 0;
  do {
    const code = text.charCodeAt(at);
    if (code === 34) {
      at = endOfString(text, at);
      continue;
    }
    if (code === 123 || code === 91) depth++;
    else if (code === 125 || code === 93) depth--;
    else if (depth === 0) return endOfWord(text, at);
    at++;
  } while (depth > 0);
  return at;
}

/** Position after a number, `true`, `false` or `null`. */
function endOfWord(text, at) {
  while (/[-+.\w]/.test(text[at] ?? '')) at++;
  return at;
}

/** The value that a whole text consists of. */
export function whole(text) {
  const start = skip(text, 0);
  return { start, end: endOf(text, start) };
}

/** Members of the object at `span` by name; undefined if a name occurs twice, for readers differ in which one they take. */
export function members(text, span) {
  const found = new Map();
  for (let at = skip(text, span.start + 1); text[at] === '"'; ) {
    const afterName = endOfString(text, at);
    const plain = text.slice(at + 1, afterName - 1);
    const name = plain.includes('\\') ? JSON.parse(`"${plain}"`) : plain;
    if (found.has(name)) return undefined;
    const start = skip(text, skip(text, afterName) + 1);
    const end = endOf(text, start);
    found.set(name, { start, end });
    at = skip(text, end);
    if (text[at] === ',') at = skip(text, at + 1);
  }
  return found;
}

/** Elements of the array at `span`. */
export function elements(text, span) {
  const found = [];
  for (let start = skip(text, span.start + 1); text[start] !== ']'; ) {
    const end = endOf(text, start);
    found.push({ start, end });
    start = skip(text, end);
    if (text[start] === ',') start = skip(text, start + 1);
  }
  return found;
}

/** A text with something put in at a position. */
export function inserted(text, at, what) {
  return text.slice(0, at) + what + text.slice(at);
}

/** A string as it stands between the quotes of a JSON text. */
export function escaped(string) {
  return JSON.stringify(string).slice(1, -1);
}
