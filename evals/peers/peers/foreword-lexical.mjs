import { foreword } from '../foreword.mjs';

// Zero switches the semantic ranking off.
export default foreword('foreword, words alone', 'lexical', 'BM25', { semanticTimeoutMs: 0 }, (memory, text, options) => memory.search(text, options));
