// What the bodies look like: where the user's last words are, and where a block can be put in.
import { elements, escaped, inserted, members, whole } from './json.js';

/** By the end of the path. `list` holds the messages, or one text where they may stand `alone`; `part` is the type of a text in a message of several parts. */
const SHAPES = [
  { path: '/v1/chat/completions', list: 'messages', part: 'text', system: chatSystem },
  { path: '/v1/responses', list: 'input', alone: true, part: 'input_text', system: (text, top, block) => intoMember(text, top, 'instructions', block) },
  { path: '/v1/messages', list: 'messages', part: 'text', system: (text, top, block) => intoMember(text, top, 'system', block) },
];

/** The shape of bodies sent to a path, if it is known. */
export function shapeOf(pathname) {
  return SHAPES.find(({ path }) => pathname.endsWith(path));
}

/**
 * Reads a body. Undefined when it is not one of the shape; otherwise the last words of the user, and how the body reads with a block
 * before them, or with it at the end of the system text: as new text, in which everything else stands as it stood.
 */
export function understood(text, shape) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(body)) return undefined;
  const top = whole(text);
  const named = members(text, top);
  const list = named?.get(shape.list);
  if (!list) return undefined;
  const found = lastWords(text, list, body[shape.list], shape);
  return (
    found && {
      words: found.words,
      user: found.user,
      system: (block) => shape.system(text, { top, named, list, body }, block),
    }
  );
}

/** A user message without text, such as one that brings the results of tools, is not the user speaking: the one before it is. */
function lastWords(text, list, value, shape) {
  if (typeof value === 'string') return shape.alone ? spoken(text, list, value, shape) : undefined;
  if (!Array.isArray(value)) return undefined;
  let spans;
  for (let i = value.length - 1; i >= 0; i--) {
    if (!isObject(value[i]) || value[i].role !== 'user') continue;
    spans ??= elements(text, list);
    const content = members(text, spans[i])?.get('content');
    if (!content) return undefined;
    const found = spoken(text, content, value[i].content, shape);
    if (found) return found;
  }
  return undefined;
}

function spoken(text, span, content, shape) {
  if (typeof content === 'string') {
    const user = (block) => inserted(text, span.start + 1, escaped(block));
    return content.trim() ? { words: content, user } : undefined;
  }
  if (!Array.isArray(content)) return undefined;
  const isText = (part) => isObject(part) && part.type === shape.part && typeof part.text === 'string' && part.text.trim() !== '';
  const last = content.findLastIndex(isText);
  if (last < 0) return undefined;
  const words = content.filter(isText).map((part) => part.text).join('\n\n');
  // A part of its own, before the last text: what comes earlier, such as a long document, may be in the model's cache.
  const user = (block) => inserted(text, elements(text, span)[last].start, `${JSON.stringify({ type: shape.part, text: block })},`);
  return { words, user };
}

/** Behind the first message if it is the system's, else as a message of its own. */
function chatSystem(text, { list, body }, block) {
  const first = body.messages[0];
  if (!isObject(first) || (first.role !== 'system' && first.role !== 'developer')) {
    return inserted(text, list.start + 1, `${JSON.stringify({ role: 'system', content: block })},`);
  }
  const content = members(text, elements(text, list)[0])?.get('content');
  return content && appended(text, content, first.content, block);
}

/** Behind the system text that is a member of the body. */
function intoMember(text, { top, named, body }, name, block) {
  const span = named.get(name);
  if (!span) return inserted(text, top.start + 1, `${JSON.stringify(name)}:${JSON.stringify(block)},`);
  if (body[name] === null) return text.slice(0, span.start) + JSON.stringify(block) + text.slice(span.end);
  return appended(text, span, body[name], block);
}

function appended(text, span, content, block) {
  if (typeof content === 'string') return inserted(text, span.end - 1, escaped(content ? `\n\n${block}` : block));
  if (!Array.isArray(content)) return undefined;
  const part = JSON.stringify({ type: 'text', text: block });
  return inserted(text, span.end - 1, content.length > 0 ? `,${part}` : part);
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
