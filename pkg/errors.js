/** An error with a stable `code` and a message that says what to do. */
export class ForewordError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = 'ForewordError';
    this.code = code;
  }
}

/** Whether an error is one that foreword threw on purpose; the module's own have the name and the code only. */
export function isTyped(error) {
  return error instanceof ForewordError || (error?.name === 'ForewordError' && typeof error.code === 'string');
}

/** A setting that does not exist is a mistake that would otherwise go unnoticed. */
export function checkKeys(given, template, path, code) {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return;
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(template, key)) {
      throw new ForewordError(code, `${path}.${key} does not exist; there are ${Object.keys(template).join(', ')}`);
    }
    const inner = template[key];
    // A scope names what it likes.
    if (inner && typeof inner === 'object' && !Array.isArray(inner) && key !== 'scope') checkKeys(value, inner, `${path}.${key}`, code);
  }
}

/** The module takes a string for one without looking: anything else would be read as an address. */
export function checkText(value, what, code = 'INVALID_REQUEST') {
  if (typeof value !== 'string') throw new ForewordError(code, `${what} is a string, not ${value === null ? 'null' : typeof value}`);
  return value;
}

/** Whatever is thrown while something of the caller's is read is the caller's mistake. */
export function reading(act, code = 'INVALID_REQUEST') {
  try {
    return act();
  } catch (error) {
    if (isTyped(error)) throw error;
    throw new ForewordError(code, `what was given cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

export function messageOf(error) {
  try {
    return String(error?.message ?? error);
  } catch {
    return 'it throws';
  }
}
