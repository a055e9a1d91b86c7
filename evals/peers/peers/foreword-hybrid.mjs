import { foreword } from '../foreword.mjs';

export default foreword('foreword', 'hybrid', 'BM25 and hash embedding, one weighted merge', {}, (memory, text, options) => memory.search(text, options));
