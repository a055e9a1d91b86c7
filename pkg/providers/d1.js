// Cloudflare D1: SQLite's full text.
import { identifier, present } from './postgres.js';
import { until } from './until.js';

/** Words of a query that are looked for. */
const MOST_WORDS = 64;

/** The statement that makes the table; run it once. `scope` is the record's scope as JSON, `updated` an ISO 8601 text. */
export function schema({ table = 'memories' } = {}) {
  return `CREATE VIRTUAL TABLE IF NOT EXISTS ${identifier(table)} USING fts5(id UNINDEXED, text, title, kind UNINDEXED, topic UNINDEXED, uri UNINDEXED, updated UNINDEXED, scope UNINDEXED)`;
}

/** Results of a table like that of `schema`, by BM25. */
export function d1({ database, table = 'memories', ...spec }) {
  const name = identifier(table);
  // A record is seen if no dimension of its scope differs from the request's; one whose scope cannot be read is seen by nobody.
  const statement = `SELECT id, text, title, kind, topic, uri, updated, scope, -bm25(${name}) AS score FROM ${name}
    WHERE ${name} MATCH ?1 AND json_valid(scope) AND NOT EXISTS (
      SELECT 1 FROM json_each(CASE WHEN json_valid(${name}.scope) THEN ${name}.scope ELSE '{}' END) AS own
      WHERE NOT EXISTS (SELECT 1 FROM json_each(?2) AS asked WHERE asked.key = own.key AND asked.value = own.value))
    ORDER BY bm25(${name}), id LIMIT ?3`;
  return {
    ...spec,
    async search({ query, limit, scope }, { signal } = {}) {
      // Quoted, a word is a word whatever it says.
      const words = (query.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).slice(0, MOST_WORDS).map((word) => `"${word}"`);
      if (words.length === 0) return [];
      signal?.throwIfAborted();
      const asked = database.prepare(statement).bind(words.join(' OR '), JSON.stringify(scope ?? {}), limit);
      const { results } = await until(signal, asked.all());
      return results.map((row) => ({ ...present(row), scope: JSON.parse(row.scope) }));
    },
  };
}
