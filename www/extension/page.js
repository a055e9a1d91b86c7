// What runs in a page, for the moment in which the user asked for it. Each function is sent there alone: it can use nothing from outside itself.

/** The text of the page, or of its selection, in passages. */
export function readPage(selectionOnly) {
  const LONGEST = 1200;
  const MOST = 80;
  const selected = String(getSelection() ?? '').trim();
  const root = document.querySelector('article') ?? document.querySelector('main') ?? document.body;
  const text = selectionOnly ? selected : (root?.innerText ?? '');
  const passages = [];
  for (const paragraph of text.split(/\n\s*\n|\n(?=[A-ZÄÖÜ\p{Lo}])/u)) {
    const tidy = paragraph.replace(/\s+/g, ' ').trim();
    if (!selectionOnly && tidy.length < 25) continue;
    const last = passages.at(-1);
    if (last !== undefined && last.length + tidy.length < LONGEST / 2) passages[passages.length - 1] = `${last}\n${tidy}`;
    else if (tidy) passages.push(tidy.slice(0, LONGEST));
  }
  return { url: location.href.split('#')[0], title: document.title || location.hostname, passages: passages.slice(0, MOST) };
}

/** The text of the box with the cursor, or nothing if there is none. */
export function readBox() {
  const box = document.activeElement;
  const secret = box?.type === 'password';
  if (!box || secret) return undefined;
  if (box.isContentEditable) return box.innerText;
  return typeof box.value === 'string' && box.selectionStart !== null ? box.value : undefined;
}

/** Shows what was found beside the box, and puts it before the text if the user says so. */
export function showFound({ found, block, reason }) {
  const box = document.activeElement;
  document.getElementById('foreword-found')?.remove();
  const host = document.createElement('div');
  host.id = 'foreword-found';
  const shadow = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { all: initial; position: fixed; z-index: 2147483647; right: 16px; bottom: 16px; color-scheme: light dark; }
    section { width: min(380px, calc(100vw - 32px)); max-height: 60vh; overflow: auto; font: 14px/1.45 system-ui, sans-serif; color: light-dark(#23201b, #ece6da); background: light-dark(#fffdf9, #211f1b); border: 1px solid light-dark(#e4ddd0, #38342d); border-radius: 14px; box-shadow: 0 12px 40px rgb(0 0 0 / 22%); padding: 14px 16px; }
    h2 { margin: 0 0 8px; font: 600 17px/1.2 Georgia, serif; }
    p { margin: 0; } ol { margin: 0; padding: 0; list-style: none; }
    li { padding: 8px 0; border-top: 1px solid light-dark(#e4ddd0, #38342d); }
    li b { font-weight: 600; } li p { display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden; }
    .soft { color: light-dark(#6d665b, #a39a8a); font-size: 12.5px; }
    div { display: flex; gap: 8px; justify-content: flex-end; margin-top: 10px; }
    button { font: 500 13.5px system-ui, sans-serif; padding: 7px 12px; border-radius: 8px; border: 1px solid light-dark(#e4ddd0, #38342d); background: none; color: inherit; cursor: pointer; }
    button.main { background: light-dark(#b4472e, #e58465); color: light-dark(#fff, #191714); border-color: transparent; }
  `);
  shadow.adoptedStyleSheets = [sheet];
  // Everything as text: it was read from pages.
  const add = (parent, tag, text, name = '') => {
    const element = parent.appendChild(document.createElement(tag));
    element.textContent = text;
    element.className = name;
    return element;
  };
  const section = shadow.appendChild(document.createElement('section'));
  add(section, 'h2', found.length ? 'You have read about this' : 'Nothing to recall');
  if (!found.length) add(section, 'p', reason, 'soft');
  const list = section.appendChild(document.createElement('ol'));
  for (const { title, text, changed } of found) {
    const item = list.appendChild(document.createElement('li'));
    add(item, 'b', title);
    add(item, 'p', text);
    add(item, 'p', changed ?? '', 'soft');
  }
  const buttons = section.appendChild(document.createElement('div'));
  const close = add(buttons, 'button', 'Close');
  close.onclick = () => host.remove();
  if (found.length) {
    const insert = add(buttons, 'button', 'Put before my text', 'main');
    insert.onclick = () => {
      box.focus();
      if (box.isContentEditable) {
        getSelection().setBaseAndExtent(box, 0, box, 0);
        document.execCommand('insertText', false, block);
      } else {
        box.setRangeText(block, 0, 0, 'preserve');
        box.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText' }));
      }
      host.remove();
    };
  }
  document.documentElement.append(host);
}
