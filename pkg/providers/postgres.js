// PostgreSQL: full text, and with pgvector also by meaning.
import { ForewordError } from '../errors.js';
import { until } from './until.js';

/** Cosine similarity from which a neighbour counts. */
const NEAR = 0.34;
/** What is indexed; a query has to say the same for the index to be used. */
const WORDS = `to_tsvector('simple', coalesce(title, '') || ' ' || text)`;

/** The statements that make the table; run them once, each by itself. Without `dimensions` there are no vectors, and pgvector is not needed. */
export function schema({ table = 'memories', dimensions } = {}) {
  const name = identifier(table);
  if (dimensions !== undefined && !(Number.isInteger(dimensions) && dimensions > 0)) throw new ForewordError('INVALID_CONFIG', 'dimensions is a whole number from 1');
  const vector = dimensions ? `, embedding vector(${dimensions})` : '';
  return [
    ...(dimensions ? ['CREATE EXTENSION IF NOT EXISTS vector'] : []),
    `CREATE TABLE IF NOT EXISTS ${name} (id text PRIMARY KEY, text text NOT NULL, title text, kind text, topic text, uri text, updated timestamptz, scope jsonb NOT NULL DEFAULT '{}'${vector})`,
    `CREATE INDEX IF NOT EXISTS ${identifier(`${table}_words`)} ON ${name} USING gin (${WORDS})`,
    ...(dimensions ? [`CREATE INDEX IF NOT EXISTS ${identifier(`${table}_near`)} ON ${name} USING hnsw (embedding vector_cosine_ops)`] : []),
  ];
}

/** Results of a table like that of `schema`, by the stronger of text rank and similarity. */
export function postgres({ client, table = 'memories', embed, embedMs = 500, nearest = NEAR, ...spec }) {
  const name = identifier(table);
  const lexical = statement(name, false);
  const hybrid = statement(name, true);
  return {
    ...spec,
    async search({ query, limit, scope }, { signal } = {}) {
      const asked = [query, JSON.stringify(scope ?? {}), limit];
      const vector = embed && (await vectorOf(embed, query, AbortSignal.any([signal, AbortSignal.timeout(embedMs)].filter(Boolean))));
      signal?.throwIfAborted();
      const { rows } = await until(signal, vector ? client.query(hybrid, [...asked, vector, nearest]) : client.query(lexical, asked));
      return rows.map(({ updated, ...row }) => ({ ...present(row), ...(updated && { updated: new Date(updated).toISOString() }) }));
    },
  };
}

/** As pgvector reads it; undefined if it cannot be had, or not in time, which leaves the text. */
async function vectorOf(embed, query, signal) {
  try {
    const vector = [...(await until(signal, embed(query, { signal })))];
    return vector.length > 0 && vector.every(Number.isFinite) ? JSON.stringify(vector) : undefined;
  } catch {
    return undefined;
  }
}

/** A record is seen if every dimension that its scope names equals the request's, which is what `<@` says. */
function statement(name, vectors) {
  const near = `, near AS (SELECT id, 1 - (embedding <=> $4::vector) AS score FROM ${name} WHERE scope <@ $2::jsonb AND embedding IS NOT NULL
    ORDER BY embedding <=> $4::vector LIMIT $3::int)`;
  return `WITH words AS (SELECT id, ts_rank(${WORDS}, asked)::float8 AS score FROM ${name}, plainto_tsquery('simple', $1::text) AS asked
    WHERE scope <@ $2::jsonb AND ${WORDS} @@ asked ORDER BY score DESC, id LIMIT $3::int)${vectors ? near : ''},
  best AS (SELECT id, max(score) AS score FROM (SELECT * FROM words${vectors ? ' UNION ALL SELECT * FROM near WHERE score >= $5::float8' : ''}) AS hits GROUP BY id)
  SELECT id, text, title, kind, topic, uri, updated, scope, best.score AS score FROM best JOIN ${name} USING (id) ORDER BY best.score DESC, id LIMIT $3::int`;
}

/** The fields that are set: what is null in a row is absent in a result. */
export function present(row) {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

/** A table's name cannot be a parameter, so it has to be one that needs no care. */
export function identifier(name) {
  if (/^[a-z_][a-z0-9_]{0,62}$/i.test(name)) return `"${name}"`;
  throw new ForewordError('INVALID_CONFIG', `a table's name is up to 63 letters, digits and _, not ${JSON.stringify(name)}`);
}
