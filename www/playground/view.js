// A result as a person reads it. Everything that was stored or typed goes in as text, never as markup.

/** `h('li.big', 'text', child)`; an object sets attributes, `--names` in it are style properties. */
export function h(name, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag || 'div');
  if (classes.length) element.className = classes.join(' ');
  for (const child of children.flat()) {
    if (child === undefined || child === null || child === false) continue;
    if (typeof child === 'object' && !(child instanceof Node)) {
      for (const [key, value] of Object.entries(child)) key.startsWith('--') ? element.style.setProperty(key, value) : element.setAttribute(key, value);
    } else element.append(child);
  }
  return element;
}

const share = (value) => ({ '--share': Math.max(0, Math.min(1, value || 0)).toFixed(4) });
const number = new Intl.NumberFormat('en');
export const bytes = (count) => (count < 10_000 ? `${number.format(count)} B` : count < 1e6 ? `${number.format(Math.round(count / 1000))} kB` : `${(count / 1e6).toFixed(1)} MB`);
const ms = (time) => (time < 10 ? `${time.toFixed(1)} ms` : `${Math.round(time)} ms`);

/** Names stand between backticks in what the module says. */
const quoted = (text) => text.replace(/`([^`]*)`/g, '“$1”');

export function plan({ plan }) {
  const yes = plan.shouldRetrieve;
  // "memory is needed (1.00): a; b" → a, b: the verdict and its number stand above them.
  const reasons = plan.reason.replace(/^[^:]*\(\d\.\d+\): /, '').split(/; (?![^(]*\))/);
  return h(yes ? '.yes' : '.no',
    h('.verdict',
      h('strong', yes ? 'Memory helps' : 'No memory needed'),
      h('.meter', `Probability that memory helps: ${Math.round(plan.confidence * 100)} %`, h('i', share(plan.confidence)))),
    h('ul.reasons', reasons.map((reason) => h('li', quoted(reason)))),
    plan.topics.length > 0 && h('.tags', plan.topics.map((topic) => h('span.tag.topic', topic))));
}

export function ask({ providers, degraded }, took) {
  if (!providers.length) return h('p.hint', 'Nobody had to be asked.');
  const longest = Math.max(took, ...providers.map(({ elapsedMs }) => elapsedMs), 1);
  const say = { ok: ({ results, rejected }) => `${results} ${results === 1 ? 'result' : 'results'}${rejected ? `, ${rejected} rejected` : ''}`, timeout: () => 'timed out', error: () => 'failed', aborted: () => 'called off' };
  const rows = providers.flatMap((provider) => [
    h('span', provider.id === 'memory' ? 'memory' : provider.id),
    h(`.lane.${provider.status}`, h('i', share(provider.elapsedMs / longest)), { title: provider.message ?? '' }),
    h('span.state', `${say[provider.status](provider)} · ${ms(provider.elapsedMs)}`),
  ]);
  return h('', h('.lanes', rows), degraded.length > 0 && h('ul.degraded', degraded.map(({ part, message }) => h('li', quoted(`${part}: ${message}`)))));
}

const KNOWN = ['lexical', 'semantic', 'links', 'importance', 'recency', 'plan', 'scope', 'providerRank', 'coverage'];
const color = (name) => ({ '--c': `var(--c-${KNOWN.includes(name) ? name : 'other'})` });

export function rank({ evidence, plan }) {
  if (!evidence.length) return h('p.hint', plan.shouldRetrieve ? 'Nothing that was found earned its place.' : 'Nothing to rank: the plan says no.');
  const most = Math.max(...evidence.map(({ score }) => score), 1e-9);
  return h('ol.evidence', evidence.map((item) => {
    const parts = item.components.filter(({ contribution }) => Math.abs(contribution) >= 0.0005);
    const facts = [item.kind, item.changed?.slice(0, 10), item.freshness === 'undated' ? '' : item.freshness, item.unresolved && 'open', item.providerId === 'memory' ? item.sources[0]?.uri : `from ${item.providerId}`];
    return h('li',
      h('.head', h('h3', item.title || item.id), h('data', item.score.toFixed(3), { title: 'What results are ordered by; not a confidence in truth' })),
      h('p.meta', facts.filter(Boolean).join(' · '), item.flags.map((flag) => h('span.flag', ` · ${flag}`))),
      h('p.text', item.text),
      h('.bar', parts.filter(({ contribution }) => contribution > 0).map(({ name, contribution }) => h('i', color(name), share(contribution / most), { title: name }))),
      h('.legend', parts.map(({ name, contribution }) => h('span', color(name), `${name} ${contribution < 0 ? '−' : ''}${Math.abs(contribution).toFixed(3)}`))),
      item.reasons.length > 0 && h('p.why', quoted(item.reasons.join(' · '))));
  }));
}

export function write({ block }, prompt, budgets) {
  const budget = (name, used, of) => h('.budget', h('span', name, h('em', `${number.format(used)} of ${number.format(of)} bytes`)), h('i', share(of ? used / of : 0)));
  const text = h('code');
  // Tags greyed, so that the notes stand out.
  for (const piece of block.text.split(/(<[^>]*>)/)) text.append(piece.startsWith('<') ? h('span.mark', piece) : piece);
  const left = block.omitted ? `${block.omitted} more did not fit. ` : '';
  const copy = h('button.quiet', 'Copy', { type: 'button' });
  copy.onclick = async () => {
    await navigator.clipboard.writeText(block.text + prompt);
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy'), 1500);
  };
  return h('',
    h('.budgets', budget('Notes', block.recallTokens, budgets.recallTokens), budget('Topics', block.catalogTokens, budgets.catalogTokens)),
    h('pre', text, h('span.prompt', prompt)),
    h('.foot', h('span.hint', `${left}${block.included.length} cited by id. Fingerprint ${block.fingerprint || 'none'}: unchanged while the content is.`), copy));
}

export function facts(entries) {
  return entries.map(([name, value]) => h('div', h('dt', name), h('dd', value)));
}
