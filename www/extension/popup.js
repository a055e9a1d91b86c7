// The popup asks the service worker, which may have to wake up first.

const $ = (id) => document.getElementById(id);

async function ask(question, given = {}) {
  const { value, error } = await chrome.runtime.sendMessage({ ask: question, ...given });
  if (error) throw new Error(error);
  return value;
}

function say(text, fault = false) {
  $('said').textContent = text;
  $('said').classList.toggle('fault', fault);
}

function make(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

/** Stored text comes from pages: it goes in as text, never as markup. */
function show(items, empty) {
  $('list').replaceChildren(...items.map(({ ids, title, text, when, uri }) => {
    const item = make('li', '', '');
    const top = make('div', 'top', '');
    const forget = make('button', 'quiet', 'Forget');
    forget.onclick = tried(async () => {
      await ask('forget', { ids });
      await refresh();
    });
    top.append(make('b', '', title), forget);
    item.append(top, make('p', 'text', text), make('p', 'meta', [when, hostOf(uri)].filter(Boolean).join(' · ')));
    return item;
  }));
  if (!items.length) $('list').append(make('li', 'empty', empty));
}

function hostOf(uri) {
  try {
    return new URL(uri).hostname;
  } catch {
    return '';
  }
}

async function refresh() {
  const query = $('query').value.trim();
  const { count } = await ask('info');
  $('count').textContent = count === 1 ? '1 passage' : `${count} passages`;
  $('clear').hidden = count === 0;
  if (query) {
    const found = await ask('search', { query });
    show(found.map(({ id, title, text, changed, uri }) => ({ ids: [id], title, text, when: changed?.slice(0, 10), uri })), 'Nothing that you have read matches.');
    return;
  }
  // One entry a page: its passages came together and go together.
  const pages = Map.groupBy(await ask('list'), ({ source }) => source?.session);
  const items = [...pages.values()].map((passages) => {
    const first = passages.reduce((one, other) => ((other.source?.position ?? 0) < (one.source?.position ?? 0) ? other : one));
    const when = first.created === undefined ? '' : new Date(first.created).toISOString().slice(0, 10);
    return { ids: passages.map(({ id }) => id), title: first.title, text: first.statement, when, uri: first.source?.uri };
  });
  show(items, 'Nothing yet. Open a page worth keeping and press the button above, or select a passage and use the context menu.');
}

const tried = (act) => async (event) => {
  try {
    await act(event);
  } catch (error) {
    say(/cannot be scripted|Cannot access|chrome:\/\//.test(error.message) ? 'This page does not let extensions read it.' : `That did not work: ${error.message}`, true);
  }
};

async function tab() {
  return (await chrome.tabs.query({ active: true, lastFocusedWindow: true }))[0].id;
}

$('page').onclick = tried(async () => {
  const { count } = await ask('remember', { tabId: await tab() });
  say(count === 1 ? 'One passage remembered.' : `${count} passages remembered.`);
  await refresh();
});
$('recall').onclick = tried(async () => {
  const { count } = await ask('recall', { tabId: await tab() });
  say(count ? 'Shown in the page.' : 'Nothing to recall for it.');
});
$('clear').onclick = tried(async () => {
  if ($('clear').dataset.sure === undefined) {
    $('clear').dataset.sure = '';
    $('clear').textContent = 'Really? Once more';
    return;
  }
  await ask('clear');
  delete $('clear').dataset.sure;
  $('clear').textContent = 'Forget everything';
  await refresh();
});
let typing;
$('query').oninput = () => {
  clearTimeout(typing);
  typing = setTimeout(tried(refresh), 120);
};
tried(refresh)();
