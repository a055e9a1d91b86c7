// Records cross in batches where they are plain, and one at a time where they are not: the same comes of it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { buildSnapshot } from '../../../pkg/entry.node.js';

const given = [
  { id: 'plain', statement: 'The boat house is painted every spring.' },
  {
    id: 'whole',
    statement: 'Rhea moved to Kiel — with a naïve café ☕ and 𝒜.',
    title: 'Moving',
    kind: 'event',
    topic: 'Homes',
    subject: 'Rhea',
    predicate: 'home',
    cues: ['where does Rhea live', ''],
    tags: ['home'],
    entities: ['Rhea', 'Kiel'],
    supersedes: ['gone'],
    created: '2025-03-01',
    updated: '2025-03-02T08:30:00.250+02:00',
    validFrom: '2025-03',
    validUntil: '2031-01-01',
    expires: '2032-01-01',
    unresolved: true,
    confidence: 0.7,
    importance: 0.3,
    scope: { tenant: 'acme', user: 'ü' },
    source: { provider: 'notes', uri: 'file:///a.md', session: 's1', speaker: 'Rhea', position: 4 },
  },
  { id: 'other names', content: 'The oven is in the cellar.', timestamp: '2025-01-01', updated_at: '2025-01-02', valid_from: '2025-01-01', expires_at: '2031-01-01', superseded_by: 'plain' },
  { id: 'half', statement: 'The first half of a character: \ud83d' },
  { id: '\ude00 the second', statement: 'Joined to the first it is a face.' },
  { id: 'old', statement: 'An old plan of the harbour.', status: 'archived' },
  { id: 'moment', statement: 'A time as a number.', created: 1_700_000_000_000 },
  { id: 'extra', statement: 'Fields that nobody knows are passed over.', colour: { any: 'thing' } },
  ...Array.from({ length: 70 }, (_, at) => ({ id: `n${at}`, statement: `Berth ${at} is let to boat ${at * 7}.`, source: { session: 'berths', position: at } })),
];
/** A record whose class the batch does not know. */
const unusual = (record) => Object.assign(Object.create({}), record);

test('a batch says what its records say', async () => {
  const [together, alone] = await Promise.all([given, given.map(unusual)].map((records) => buildSnapshot({ records })));
  assert.deepEqual(together.reports, []);
  assert.deepEqual(together, alone);
});

test('what is refused is named, and costs the others nothing, wherever it stands', async () => {
  const wrong = [
    { id: 'no text' },
    { id: 'plain', statement: 'An id that is taken.' },
    { id: 'sure', statement: 'Too sure.', confidence: 7 },
    { id: 'when', statement: 'No such day.', created: '2025-02-31' },
    { id: 'twice', statement: 'One text.', text: 'Another text.' },
    { id: 'list', statement: 'Tags are texts.', tags: [1] },
    { id: 'place', statement: 'No such place.', source: { position: -1 } },
    { id: 5, statement: 'An id is a text.' },
    null,
    'a text',
  ];
  const mixed = given.flatMap((record, at) => [record, ...wrong.slice(at, at + 1)]).concat(wrong);
  const [together, alone] = await Promise.all([mixed, mixed.map((record) => (typeof record === 'object' && record ? unusual(record) : record))].map((records) => buildSnapshot({ records })));
  assert.deepEqual(together, alone);
  assert.equal(together.reports.length, 2 * wrong.length);
  assert.deepEqual(together.bytes, (await buildSnapshot({ records: given })).bytes);
});
