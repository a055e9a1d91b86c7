// The service worker: woken by a click, a shortcut or the popup, and killed whenever the browser likes. It keeps nothing that is not on disk.
import { change, clear, open } from './memory.js';
import { readBox, readPage, showFound } from './page.js';

chrome.runtime.onInstalled.addListener(() => {
  const menu = (id, title, contexts) => chrome.contextMenus.create({ id, title, contexts });
  chrome.contextMenus.removeAll(() => {
    menu('selection', 'Remember this', ['selection']);
    menu('page', 'Remember this page', ['page']);
    menu('recall', 'Recall for this text box', ['editable']);
  });
});

chrome.contextMenus.onClicked.addListener(({ menuItemId, frameId }, tab) => {
  if (menuItemId === 'recall') reported(recallInto(tab.id, frameId), tab.id);
  else reported(rememberFrom(tab.id, menuItemId === 'selection', frameId), tab.id);
});

chrome.commands.onCommand.addListener((command, tab) => {
  if (command === 'recall') reported(recallInto(tab.id, 0), tab.id);
});

const ANSWERS = {
  info: async () => {
    const { records, learned } = (await open()).info();
    return { count: records + learned };
  },
  list: async () => (await open()).browse({ order: 'created_at', direction: 'desc', limit: 100 }).items.map(({ record }) => record),
  search: async ({ query }) => (await (await open()).search(query)).evidence.map(({ id, title, text, changed, sources }) => ({ id, title, text, changed, uri: sources[0]?.uri })),
  remember: ({ tabId, selection }) => rememberFrom(tabId, selection, 0),
  recall: ({ tabId }) => recallInto(tabId, 0),
  forget: ({ ids }) => change({ forget: ids }),
  clear,
};

chrome.runtime.onMessage.addListener((message, sender, answer) => {
  // Only the extension's own pages: a page that was scripted has no say.
  if (sender.id !== chrome.runtime.id || !sender.url?.startsWith(location.origin)) return false;
  const asked = Object.hasOwn(ANSWERS, message.ask) ? ANSWERS[message.ask](message) : Promise.reject(new Error('unknown question'));
  asked.then((value) => answer({ value }), (error) => answer({ error: error.message }));
  return true;
});

async function inPage(tabId, frameId, func, ...args) {
  const [{ result }] = await chrome.scripting.executeScript({ target: { tabId, frameIds: [frameId ?? 0] }, func, args });
  return result;
}

/** Passages become records of one document; what was remembered of the page before is replaced. */
async function rememberFrom(tabId, selection, frameId) {
  const { url, title, passages } = await inPage(tabId, frameId, readPage, Boolean(selection));
  if (!passages.length) throw new Error('there is no text to remember');
  const created = new Date().toISOString();
  const key = await digest(selection ? `${url}\n${passages.join('\n')}` : url);
  if (!selection) {
    const memory = await open();
    const before = await idsOf(memory, `${key}-`);
    if (before.length) await change({ forget: before });
  }
  await change({
    remember: passages.map((statement, position) => ({ id: `${key}-${position}`, kind: 'note', title, statement, created, source: { uri: url, session: key, position } })),
  });
  return { count: passages.length };
}

async function idsOf(memory, prefix) {
  const ids = [];
  let cursor;
  do {
    const page = memory.browse({ limit: 100, cursor });
    ids.push(...page.items.map(({ record }) => record.id).filter((id) => id.startsWith(prefix)));
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  return ids;
}

async function digest(text) {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return Array.from(bytes.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function recallInto(tabId, frameId) {
  const text = await inPage(tabId, frameId, readBox);
  if (text === undefined) throw new Error('click into a text box first');
  const { evidence, block, plan } = await (await open()).recall(text);
  const found = evidence.filter(({ id }) => block.included.includes(id)).map(({ title, text, changed }) => ({ title, text, changed: changed?.slice(0, 10) }));
  await inPage(tabId, frameId, showFound, { found, block: block.recall, reason: plan.reason });
  return { count: found.length };
}

/** Says on the button how it went: a context menu has no other place for it. */
async function reported(work, tabId) {
  let [text, color, title] = ['✓', '#2d7a52', 'foreword'];
  try {
    await work;
  } catch (error) {
    [text, color, title] = ['!', '#b3261e', `foreword: ${error.message}`];
  }
  await Promise.all([chrome.action.setBadgeText({ tabId, text }), chrome.action.setBadgeBackgroundColor({ tabId, color }), chrome.action.setTitle({ tabId, title })]).catch(() => {});
}
