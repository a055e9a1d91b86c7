import type { Provider } from '../foreword.js';
import type { Spec } from './spec.js';

export interface PostgresOptions extends Spec {
  /** Whatever has `query(sql, params)`: `pg`, Neon, PGlite. */
  client: { query(sql: string, params: unknown[]): Promise<{ rows: unknown[] }> };
  /** Default `memories`. */
  table?: string;
  /** The query's vector, by the model that made the column's. Without it, or where it fails, only the text is searched. */
  embed?(query: string, options: { signal: AbortSignal }): ArrayLike<number> | Promise<ArrayLike<number>>;
  /** How long that may take, in milliseconds, before the text is searched alone. Default 500. */
  embedMs?: number;
  /** Cosine similarity from which a neighbour counts. Default 0.34. */
  nearest?: number;
}

/**
 * Results by the stronger of `ts_rank` for `plainto_tsquery('simple', query)`, which wants every word, and cosine similarity. Query, scope and limit
 * are parameters. A statement is not waited for once the signal has fired, but only the server's `statement_timeout` ends it.
 */
export function postgres(options: PostgresOptions): Provider;

/** The statements that make the table and its indexes, to be run one by one; with `dimensions` there is a column `embedding` (pgvector). */
export function schema(options?: { table?: string; dimensions?: number }): string[];
