import type { Provider } from '../foreword.js';
import type { Spec } from './spec.js';

export interface D1Options extends Spec {
  /** A D1 database, or whatever has its `prepare`, `bind` and `all`. */
  database: { prepare(sql: string): { bind(...params: unknown[]): { all(): Promise<{ results: unknown[] }> } } };
  /** Default `memories`. */
  table?: string;
}

/** Results by SQLite's BM25 for any word of the query. Query, scope and limit are parameters. */
export function d1(options: D1Options): Provider;

/** The statement that makes the table (FTS5). `scope` holds the record's scope as JSON, `updated` an ISO 8601 text. */
export function schema(options?: { table?: string }): string;
