import type { Foreword, RecallOptions, Scope } from '../foreword.js';
import type { Tenant } from '../storage/index.js';

/** What is asked: a Foreword, or a tenant of a MemoryPool. */
export type BrowsableMemory = Pick<Foreword, 'search' | 'browse'> | Pick<Tenant, 'search' | 'browse'>;

/** Every function may be async. `Extra` is what the SDK tells a tool of its caller: `authInfo`, `requestInfo`, `sessionId`, `signal` … */
export interface MemoryToolsOptions<Extra = any> {
  /** What Zod exports, 3.25 or 4: `import { z } from 'zod'`. */
  z: { object: Function; string: Function; number: Function; array: Function; enum: Function; boolean: Function };
  /** The memory, or which one for this scope; undefined means none. */
  memory: BrowsableMemory | ((asked: { scope: Scope; context: Extra }) => BrowsableMemory | undefined | Promise<BrowsableMemory | undefined>);
  /** Whose memories may be seen, from the caller's authentication; a tool's input has no say in it. Undefined is answered with the error UNAUTHENTICATED. */
  scope(extra: Extra): Scope | undefined | Promise<Scope | undefined>;
  /** Further options of every search; `now`, `asOf`, `history` and `kinds` hold for lists too. */
  search?: Omit<RecallOptions, 'scope' | 'signal' | 'limit'>;
  /** Told why a tool failed. */
  onError?(error: unknown, extra: Extra): unknown;
}

/**
 * Registers two read-only tools with an `McpServer` of `@modelcontextprotocol/sdk`. `memory_search` takes `{query, topK?}` and gives `{results, degraded}`, as
 * `searchHandler` does. `retrieve_thoughts` takes `{query?, limit?, order?, direction?, cursor?}`: with a query it searches, without one it lists a page;
 * it gives `{thoughts, nextCursor, total, degraded}`. `topK` and `limit` are 1 to 50, default 8. What goes wrong is a result with `isError` and
 * the text `CODE: message`.
 * @throws ForewordError INVALID_CONFIG
 */
export function registerMemoryTools<Extra = any>(server: { registerTool: Function }, options: MemoryToolsOptions<Extra>): void;
