import { foreword } from '../foreword.mjs';

export default foreword('foreword, whole recall', 'recall', 'the same, with the decision and the block', {}, (memory, text, options) => memory.recall(text, options));
