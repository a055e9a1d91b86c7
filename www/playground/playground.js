// The playground: notes in, a memory built beside the page, and each prompt taken apart while it is typed.
import { Foreword, init } from '../../pkg/entry.default.js';
import * as view from './view.js';

const $ = (id) => document.getElementById(id);
const samples = fetch('./samples.json').then((response) => response.json());

/** What is loaded now; `now` is the present in which the sample notes are told. */
let loaded;
let memory;
let latest = 0;

async function build({ notes = [], records = [], now, prompts }) {
  $('progress').hidden = false;
  $('progress').value = 0;
  const worker = new Worker(new URL('./builder.js', import.meta.url), { type: 'module' });
  try {
    const built = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if (data.done !== undefined) $('progress').value = data.done;
        else if (data.error) reject(new Error(data.error));
        else resolve(data);
      };
      worker.onerror = (event) => reject(new Error(event.message || 'the builder could not be started'));
      worker.postMessage({ notes, records });
    });
    const skipped = built.reports.filter((report) => report.skipped).length;
    $('notes-hint').textContent = prompts
      ? `${notes.length} sample notes of a small company that runs harbours. Open your own: they stay in this page.`
      : `${notes.length + records.length} read, ${skipped} skipped${built.reports.length ? `. ${built.reports[0].file}: ${built.reports[0].message}` : ''}. They stay in this page.`;
    loaded = { bytes: built.bytes, now, prompts };
    $('examples').hidden = !prompts;
    await load();
  } finally {
    worker.terminate();
    $('progress').hidden = true;
  }
}

/** Loads what was built under the settings of the moment; what was taught is kept in it. */
async function load() {
  await init();
  const begun = performance.now();
  const next = await Foreword.load(loaded.bytes, { config: { budgets: budgets() }, providers: providers() });
  const took = performance.now() - begun;
  memory?.dispose();
  memory = next;
  const { records, learned, bytes, catalog } = memory.info();
  $('facts').replaceChildren(...view.facts([
    ['records', `${records + learned}`],
    ['topics', `${catalog.topics.length}`],
    ['snapshot', view.bytes(bytes)],
    ['loaded in', `${took.toFixed(1)} ms`],
  ]));
  await recall();
}

function budgets() {
  const recallTokens = Number($('recall-budget').value);
  const catalogTokens = Number($('catalog-budget').value);
  $('recall-out').textContent = `${recallTokens.toLocaleString('en')} bytes`;
  $('catalog-out').textContent = `${catalogTokens.toLocaleString('en')} bytes`;
  return { recallTokens, catalogTokens, perProviderTokens: Math.max(recallTokens, 1) };
}

function providers() {
  const entries = [
    { id: 'weekly', title: 'Billing rewrite: weekly', kind: 'event', text: 'Weekly on the billing rewrite with Oskar and Lotte, Tuesdays at ten; the rounding of refunds is on the agenda.', updated: '2025-11-25' },
    { id: 'release', title: 'Winter release', kind: 'event', text: 'Dress rehearsal for the winter release on 9 December, Bram holds the checklist.', updated: '2025-11-20' },
  ];
  const all = {
    calendar: {
      topics: '*',
      async search({ query }) {
        await new Promise((resolve) => setTimeout(resolve, 40));
        const words = query.toLowerCase().match(/\p{L}{5,}/gu) ?? [];
        return entries.filter(({ text }) => words.some((word) => text.toLowerCase().includes(word)));
      },
    },
    archive: { topics: '*', timeoutMs: 160, search: () => new Promise(() => {}) },
    crm: {
      topics: '*',
      search() {
        throw new Error('connection refused');
      },
    },
  };
  return Object.entries(all).filter(([id]) => $(id).checked).map(([id, provider]) => ({ id, ...provider }));
}

async function recall() {
  if (!memory) return;
  const turn = ++latest;
  const prompt = $('prompt').value;
  for (const chip of document.querySelectorAll('.chips button')) chip.setAttribute('aria-pressed', `${chip.title === prompt}`);
  if (!prompt.trim()) return;
  $('answer').classList.add('busy');
  const begun = performance.now();
  const result = await memory.recall(prompt, { now: loaded.now });
  const took = performance.now() - begun;
  // A newer prompt is on its way: this one's answer interests nobody any more.
  if (turn !== latest) return;
  const parts = { plan: view.plan(result), ask: view.ask(result, took), rank: view.rank(result), write: view.write(result, prompt, budgets()) };
  for (const [id, content] of Object.entries(parts)) $(id).querySelector('.body').replaceChildren(content);
  $('answer').classList.remove('busy');
}

function chips(into, prompts) {
  into.replaceChildren(...prompts.map(({ text, shows }) => {
    const short = shows.split(/[:,]/)[0].replace(/ needs no memory$| and a German note$| and another tenant's price stay out$/, '');
    const chip = view.h('button', short, { type: 'button', title: text, 'aria-pressed': 'false' });
    chip.onclick = () => {
      $('prompt').value = text;
      recall();
    };
    return chip;
  }));
}

async function sample() {
  const { notes, prompts, now } = await samples;
  chips($('yes'), prompts.filter(({ expect }) => expect.retrieve));
  chips($('no'), prompts.filter(({ expect }) => !expect.retrieve));
  $('prompt').value = prompts[0].text;
  await build({ notes, prompts, now });
}

async function own(files) {
  const notes = [];
  const records = [];
  for (const file of files) {
    const path = file.webkitRelativePath || file.name;
    if (/\.jsonl$/i.test(path)) {
      for (const line of (await file.text()).split('\n')) {
        try {
          if (line.trim()) records.push(JSON.parse(line));
        } catch {
          // Counted as skipped, with the others that are no records.
          records.push({});
        }
      }
    } else if (/\.(md|markdown|txt)$/i.test(path)) notes.push({ path, text: await file.text() });
  }
  if (!notes.length && !records.length) $('notes-hint').textContent = 'No notes there: Markdown, text or JSONL files are read.';
  else await build({ notes, records });
}

const failing = (act) => async (...given) => {
  try {
    await act(...given);
  } catch (error) {
    $('plan').querySelector('.body').replaceChildren(view.h('p.hint', `That did not work: ${error.message}`));
    $('answer').classList.remove('busy');
  }
};

let typing;
$('prompt').oninput = () => {
  clearTimeout(typing);
  typing = setTimeout(failing(recall), 120);
};
for (const id of ['recall-budget', 'catalog-budget', 'calendar', 'archive', 'crm']) {
  $(id).oninput = () => {
    budgets();
    clearTimeout(typing);
    typing = setTimeout(failing(load), 60);
  };
}
$('teach').onsubmit = failing(async (event) => {
  event.preventDefault();
  const statement = $('lesson').value.trim();
  if (!statement) return;
  memory.remember({ id: `taught-${Date.now().toString(36)}`, kind: 'note', statement, created: loaded.now ?? new Date().toISOString() });
  loaded.bytes = memory.compact();
  $('lesson').value = '';
  $('taught').textContent = `Remembered: “${statement}” Ask about it.`;
  await load();
});
$('samples').onclick = failing(sample);
$('folder').onchange = $('files').onchange = failing(({ target }) => own(target.files));

let over = 0;
addEventListener('dragenter', () => ($('drop').hidden = !++over));
addEventListener('dragleave', () => ($('drop').hidden = !--over));
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', failing(async (event) => {
  event.preventDefault();
  over = 0;
  $('drop').hidden = true;
  await own(event.dataTransfer.files);
}));

failing(sample)();
