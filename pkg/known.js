// What the module would say if it were asked, which costs a cold start a millisecond. A test asks it.

/** The options of a request. */
export const OPTIONS = new Set(['scope', 'history', 'limit', 'kinds', 'providers', 'nonce', 'deadlineMs', 'about', 'attribute', 'mode', 'turn']);

/** What a request may take where nobody says it, in milliseconds. */
export const DEADLINE_MS = 5000;
