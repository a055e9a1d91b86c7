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
