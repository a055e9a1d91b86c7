// Whatever the host's functions answer with or throw, whenever: the recall resolves, says what happened, has what the store has, and the module lives on.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import vm from 'node:vm';
import { Foreword, buildSnapshot } from '../../../pkg/entry.node.js';

const now = '2025-12-01';
const question = 'Which train seat do I like?';
const records = [{ id: 'seat', statement: 'On trains I like a window seat in the quiet coach.' }, { id: 'gate', statement: 'The harbour gate opens at noon on weekdays.' }, { id: 'cushions', statement: 'The seat cushions of the old train were red.' }];
const { bytes } = await buildSnapshot({ records });
const unheard = [];
const listener = (reason) => unheard.push(reason);
process.on('unhandledRejection', listener);
after(() => process.off('unhandledRejection', listener));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const refuse = () => { throw new Error('no'); };
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
};
const handedOver = () => {
  const vector = new Float32Array(384);
  structuredClone(vector, { transfer: [vector.buffer] });
  return vector;
};
const cyclic = () => {
  const list = [];
  list.push(list);
  return list;
};
const endless = () => ({ *[Symbol.iterator]() { for (;;) yield ['x', 'y']; } });
const withLength = (length) => new Proxy([1], { get: (list, name) => (name === 'length' ? length : list[name]) });
const junk = {
  undefined: () => undefined, null: () => null, number: () => 5, bigint: () => 5n, symbol: () => Symbol('s'), text: () => 'seat', function: () => () => 1, object: () => ({}), empty: () => [],
  cyclic, nested: () => [[[{}]]], nulls: () => [null, undefined, 5, 'x', {}], 'half a character': () => ['\ud800', { id: '\ud800', text: '\udfff' }], long: () => [{ id: 'x'.repeat(1e6), text: 'seat '.repeat(1e6), title: 't'.repeat(1e6) }],
  many: () => Array.from({ length: 100_000 }, (_, n) => `id${n}`), sparse: () => Object.assign([], { length: 4e9 }), frozen: () => Object.freeze([Object.freeze({ id: 'f', text: 'seat' })]),
  'getters that throw': () => [{ get id() { return refuse(); } }, { id: 'a', text: 'seat', get scope() { return refuse(); } }, { id: 'b', text: 'seat', scope: { get tenant() { return refuse(); } } }], 'a list that throws': () => new Proxy([], { get: refuse }),
  'a length that is none': () => withLength({}), 'a length of another kind': () => withLength(1n), 'a length that cannot be read': () => withLength(Symbol('l')), revoked, 'revoked inside': () => [revoked(), { id: revoked(), text: 'seat' }], 'revoked results': () => ({ results: revoked(), ids: revoked(), topics: revoked() }),
  endless, 'endless inside': () => [endless(), { id: 'e', text: 'seat', scope: endless() }], thenable: () => ({ then: (resolve, reject) => (resolve([]), reject(1), refuse()) }), 'then that throws': () => ({ get then() { return refuse(); } }),
  'a vector handed over': () => [handedOver()], 'vectors of NaN': () => [new Float32Array(384).fill(NaN)], 'a vector too long': () => [new Float32Array(1e6)], 'a vector in disguise': () => [new Proxy(new Float32Array(384), {})], 'a vector in name': () => [Object.create(Float32Array.prototype)], 'a million vectors': () => Array(1e6).fill(new Float32Array(384)),
  'a date in name': () => [{ id: 'd', text: 'seat', updated: Object.create(Date.prototype) }], 'no date': () => [{ id: 'd', text: 'seat', updated: new Date(NaN) }],
  'a plan of junk': () => ({ shouldRetrieve: true, confidence: NaN, topics: [5], requests: [revoked()] }), 'a plan that throws': () => ({ shouldRetrieve: true, get topics() { return refuse(); } }), 'an endless plan': () => ({ shouldRetrieve: true, topics: endless(), requests: endless() }),
};
const withMessage = (value) => Object.defineProperty(new Error('x'), 'message', { value });
const thrown = {
  error: () => new Error('no'), undefined: () => undefined, null: () => null, text: () => 'no', object: () => ({}), symbol: () => Symbol('s'), revoked, unsayable: () => ({ toString: null }), foreign: () => vm.runInNewContext('new Error("no")'), long: () => new Error('x'.repeat(1e6)),
  ...Object.fromEntries([5, undefined, null, {}, Symbol('m')].map((message) => [`a message that is ${String(message)}`, () => withMessage(message)])),
  'a message that throws': () => ({ get message() { return refuse(); } }), 'an error in disguise': () => new Proxy(new Error('x'), { get: refuse }), 'a typed error': () => Object.assign(new Error('x'), { name: 'ForewordError', code: 'INVALID_REQUEST' }), 'a trap of somebody else': () => new WebAssembly.RuntimeError('unreachable'),
};
const behaviours = {
  ...Object.fromEntries(Object.entries(junk).flatMap(([name, make]) => [[`returns ${name}`, () => make()], [`resolves with ${name}`, async () => make()]])),
  ...Object.fromEntries(Object.entries(thrown).flatMap(([name, make]) => [[`throws: ${name}`, () => { throw make(); }], [`rejects: ${name}`, async () => { throw make(); }]])),
  'rejects late': async () => { await pause(60); throw new Error('late'); },
  hangs: () => new Promise(() => {}),
};
const kinds = {
  embedder: (embed) => ({ embedder: { id: 'remem-local-hash-v1', dimensions: 384, embed } }),
  semantic: (search) => ({ semantic: { search } }),
  planner: (planner) => ({ planner, config: { plan: { planner: 'promptAndTopics', ambiguityBand: 1, plannerTimeoutMs: 30 } } }),
  reranker: (reranker) => ({ reranker, config: { rerankTimeoutMs: 30 } }),
  provider: (search) => ({ providers: [{ id: 'p', topics: '*', timeoutMs: 30, search }] }),
};

for (const [kind, options] of Object.entries(kinds)) {
  test(`a recall outlives its ${kind}`, async () => {
    const faults = [];
    let calls = 0;
    for (const [name, act] of Object.entries(behaviours)) {
      const given = options((...asked) => (calls++, act(...asked)));
      const memory = await Foreword.load(bytes, { ...given, config: { ...given.config, semanticTimeoutMs: 30 } });
      try {
        const { evidence, degraded } = await memory.recall(question, { now, providers: kind === 'provider' ? ['p'] : [] });
        const plans = kind === 'planner' && name.includes(' plan');
        if (!plans && !evidence.some(({ id }) => id === 'seat')) faults.push(`${name}: what the store has is lost`);
        if (degraded.some(({ part }) => part !== kind)) faults.push(`${name}: ${JSON.stringify(degraded)}`);
        if (/^(throws|rejects|hangs)/.test(name) && degraded.length !== 1) faults.push(`${name}: nothing is said of it`);
        if (JSON.stringify(evidence).length > 50_000) faults.push(`${name}: ${JSON.stringify(evidence).length} characters of evidence`);
      } catch (error) {
        faults.push(`${name}: ${error?.code} ${error?.message}`);
      }
      memory.dispose();
    }
    await pause(80);
    assert.deepEqual(faults, []);
    assert.ok(calls >= Object.keys(behaviours).length);
    assert.deepEqual(unheard, []);
  });
}

test('a reconciliation resolves whatever the backend does', async () => {
  for (const act of Object.values(behaviours)) {
    const memory = await Foreword.load(bytes, { semantic: { search: () => [], reconcile: act }, config: { reconcileTimeoutMs: 20 } });
    const said = await memory.reconcile();
    assert.ok(said === undefined || (typeof said === 'string' && said.length < 400), said);
    memory.dispose();
  }
  await pause(80);
  assert.deepEqual(unheard, []);
});

const scopes = { many: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, 'v'])), list: ['acme'], endless: endless(), 'made by a class': new (class { get tenant() { return 'zed'; } })(), 'not of texts': { tenant: 5 }, 'a Map of another': new Map([['tenant', 'zed']]), another: { tenant: 'zed' } };
for (const [name, scope] of Object.entries(scopes)) {
  test(`a result is not seen where its scope cannot be read: ${name}`, async () => {
    const memory = await Foreword.load(bytes, { providers: [{ id: 'p', search: () => [{ id: 'secret', text: 'A window seat.', scope }, { id: 'own', text: 'An aisle seat.', scope: new Map([['tenant', 'acme']]) }] }] });
    const { evidence, providers } = await memory.search(question, { now, scope: { tenant: 'acme' }, providers: ['p'] });
    assert.deepEqual(evidence.filter(({ providerId }) => providerId === 'p').map(({ id }) => id), ['own']);
    assert.equal(providers.find(({ id }) => id === 'p').rejected, 1);
    memory.dispose();
  });
}

test('a result arrives under each name of its fields', async () => {
  const names = { text: ['text', 'statement', 'content', 'body'], uri: ['uri', 'url'], changed: ['updated', 'updatedAt', 'updated_at', 'created', 'createdAt', 'timestamp'] };
  const base = { id: 'r', text: 'A window seat.', title: 'Seats', score: 1, kind: 'fact', topic: 'Trains', subject: 'ana', predicate: 'seat', uri: 'https://x.example/1', session: 's1', speaker: 'ana', updated: new Date('2025-11-03'), importance: 1, unresolved: true };
  const found = async (result) => {
    const memory = await Foreword.empty({ providers: [{ id: 'p', search: () => [result] }] });
    const { evidence } = await memory.search('window seat', { now, providers: ['p'] });
    memory.dispose();
    return evidence[0];
  };
  const whole = await found(base);
  const { text, title, kind, topic, subject, predicate, sources, changed, unresolved } = whole;
  assert.deepEqual({ text, title, kind, topic, subject, predicate, unresolved }, { text: base.text, title: base.title, kind: base.kind, topic: base.topic, subject: base.subject, predicate: base.predicate, unresolved: true });
  assert.deepEqual(sources, [{ providerId: 'p', id: 'r', uri: base.uri, session: 's1', speaker: 'ana' }]);
  assert.match(changed, /^2025-11-03/);
  for (const [field, others] of Object.entries({ ...names, changed: names.changed })) {
    const own = field === 'changed' ? 'updated' : field;
    for (const name of others) {
      const { [own]: value, ...rest } = base;
      assert.deepEqual(await found({ ...rest, [name]: value }), whole, name);
    }
  }
  for (const name of ['expires', 'expiresAt', 'expires_at']) assert.equal(await found({ ...base, [name]: '2025-11-30' }), undefined, name);
});

test('a provider is asked as the object that it is', async () => {
  class Notes {
    id = 'notes';
    #texts = ['A window seat.'];
    search({ limit }) {
      return this.read().slice(0, limit);
    }
    read() {
      return this.#texts.map((text, id) => ({ id, text }));
    }
  }
  const memory = await Foreword.empty({ providers: [new Notes()] });
  const { evidence, degraded } = await memory.search('window seat', { now, providers: ['notes'] });
  assert.deepEqual([evidence.map(({ text }) => text), degraded], [['A window seat.'], []]);
  memory.dispose();
});

test('whatever a function does with the memory that asks it', async () => {
  let memory;
  let depth = 0;
  const again = async (act) => {
    if (depth++ < 3) await act();
  };
  const deeds = {
    recall: () => again(() => memory.recall(question, { now })), search: () => again(() => memory.search(question, { now })), prepare: () => again(() => memory.prepare(1, question, { now })), remember: () => memory.remember({ id: `n${depth++}`, statement: 'The buoy is lit.' }),
    forget: () => memory.forget('gate'), supersede: () => depth++ === 0 && memory.supersede('gate', { id: 'gate2', statement: 'The gate opens at one.' }), compact: () => memory.compact(), info: () => memory.info(), browse: () => memory.browse(), dispose: () => memory.dispose(),
  };
  const answers = { embedder: [new Float32Array(384).fill(0.05)], semantic: ['seat'], planner: { shouldRetrieve: true, confidence: 0.9 }, reranker: ['seat'], provider: [{ id: 'x', text: 'A seat.' }], counter: 3 };
  const all = { ...kinds, counter: (countTokens) => ({ countTokens }) };
  for (const [kind, options] of Object.entries(all)) {
    for (const [name, deed] of Object.entries(deeds)) {
      for (const when of ['at once', 'later']) {
        if (kind === 'counter' && when === 'later') continue;
        depth = 0;
        const given = options(when === 'later' ? async () => (await pause(1), await deed(), answers[kind]) : () => (void Promise.resolve(deed()).catch(() => {}), answers[kind]));
        memory = await Foreword.load(bytes, given);
        const { evidence, degraded } = await memory.recall(question, { now, providers: kind === 'provider' ? ['p'] : [] });
        assert.ok(evidence.some(({ id }) => id === 'seat'), `${kind}, ${name} ${when}`);
        assert.deepEqual(degraded, [], `${kind}, ${name} ${when}`);
        memory.dispose();
      }
    }
  }
  assert.deepEqual(unheard, []);
});
