// Middleware for the language models of the AI SDK: what `withForeword` does to a body, to a prompt that is not one yet.
import { ForewordError } from '../errors.js';
import { recalled, settings, tell } from '../workers/attach.js';

/** Language-model middleware that attaches the foreword to each call; whatever goes wrong with memory, the call goes on as it came. */
export function foreword({ specificationVersion = 'v4', ...options } = {}) {
  for (const name of ['maxBytes', 'conversation']) {
    if (name in options) throw new ForewordError('INVALID_CONFIG', `${name} is a setting for requests; a call of the AI SDK has none`);
  }
  const given = settings(options);
  return {
    specificationVersion,
    async transformParams({ params, model, type }) {
      const call = { params, model, type };
      try {
        const spoken = lastWords(params.prompt);
        if (!spoken) return params;
        const found = await recalled(call, spoken.words, given, undefined, params.abortSignal);
        const block = found?.block.text;
        // Each step of a call with tools brings the same words again, and the prompt without the block.
        if (!block || spoken.words.includes(block)) return params;
        return { ...params, prompt: given.place === 'user' ? beforeWords(params.prompt, spoken, block) : behindSystem(params.prompt, block) };
      } catch (error) {
        tell(given.onError, error);
        return params;
      }
    },
  };
}

const isText = (part) => part.type === 'text' && part.text.trim() !== '';

/** Where the user's last words are: a message of files alone is not the user speaking. */
function lastWords(prompt) {
  for (let message = prompt.length - 1; message >= 0; message--) {
    const { role, content } = prompt[message];
    if (role !== 'user') continue;
    const part = content.findLastIndex(isText);
    if (part >= 0) return { message, part, words: content.filter(isText).map(({ text }) => text).join('\n\n') };
  }
  return undefined;
}

/** A part of its own, before the last text: what comes earlier may be in the model's cache. */
function beforeWords(prompt, { message, part }, block) {
  const said = prompt[message];
  return prompt.with(message, { ...said, content: said.content.toSpliced(part, 0, { type: 'text', text: block }) });
}

/** Behind the system text that comes first, else as a message of its own. */
function behindSystem(prompt, block) {
  const [first, ...rest] = prompt;
  if (first?.role !== 'system') return [{ role: 'system', content: block }, ...prompt];
  return [{ ...first, content: first.content ? `${first.content}\n\n${block}` : block }, ...rest];
}
