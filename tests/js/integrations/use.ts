// Programs as people write them; types.test.mjs compiles them, nothing runs them.
import { Hono, type Context } from 'hono';
import { proxy } from 'hono/proxy';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { z } from 'zod';
import { wrapLanguageModel, type LanguageModelMiddleware } from 'ai';
import { wrapLanguageModel as wrap5 } from 'ai5';
import { wrapLanguageModel as wrap6 } from 'ai6';
import { foreword as remembering } from '../../../pkg/ai-sdk/index.js';
import type { Foreword } from '../../../pkg/foreword.js';
import { foreword } from '../../../pkg/hono/index.js';
import { registerMemoryTools } from '../../../pkg/mcp/index.js';
import type { MemoryPool } from '../../../pkg/storage/index.js';

declare const memory: Foreword;
declare const pool: MemoryPool;

type Env = { Variables: { tenant: string } };
const app = new Hono<Env>();
app.use('/v1/*', foreword<Context<Env>>({ memory, scope: (request, c) => ({ tenant: c.get('tenant') }), onRecall: ({ plan }, c) => c.header('x-memory', plan.reason) }));
app.use(foreword({ memory, scope: () => undefined }));
app.all('/v1/*', (c) => proxy(`https://api.openai.com${c.req.path}`, c.req));
// @ts-expect-error a scope comes from authentication, and has to be given
app.use(foreword({ memory }));

const server = new McpServer({ name: 'memory', version: '1' });
registerMemoryTools(server, { z, memory, scope: () => ({}) });
registerMemoryTools<RequestHandlerExtra<any, any>>(server, { z, memory: ({ scope }) => pool.tenant(scope.tenant!), scope: ({ authInfo }) => authInfo && { tenant: authInfo.clientId } });
// @ts-expect-error z has to be given
registerMemoryTools(server, { memory, scope: () => ({}) });

declare const model: Parameters<typeof wrapLanguageModel>[0]['model'];
declare const model5: Parameters<typeof wrap5>[0]['model'];
declare const model6: Parameters<typeof wrap6>[0]['model'];
const whose = { memory: ({ scope }: { scope: Record<string, string> }) => pool.tenant(scope.tenant!), scope: () => ({ tenant: 'a' }) };
wrapLanguageModel({ model, middleware: remembering(whose) });
wrap6({ model: model6, middleware: remembering({ ...whose, specificationVersion: 'v3' }) });
wrap5({ model: model5, middleware: remembering(whose) });
const several: LanguageModelMiddleware[] = [remembering({ memory, scope: () => undefined, place: 'system', timeoutMs: 200, onRecall: ({ plan }) => plan.reason })];
several satisfies unknown;
// @ts-expect-error there is no body whose length could be bounded
remembering({ ...whose, maxBytes: 3 });
