// Programs as people write them; types.test.mjs compiles them, nothing runs them.
import { Hono, type Context } from 'hono';
import { proxy } from 'hono/proxy';
import type { Foreword } from '../../../pkg/foreword.js';
import { foreword } from '../../../pkg/hono/index.js';

declare const memory: Foreword;

type Env = { Variables: { tenant: string } };
const app = new Hono<Env>();
app.use('/v1/*', foreword<Context<Env>>({ memory, scope: (request, c) => ({ tenant: c.get('tenant') }), onRecall: ({ plan }, c) => c.header('x-memory', plan.reason) }));
app.use(foreword({ memory, scope: () => undefined }));
app.all('/v1/*', (c) => proxy(`https://api.openai.com${c.req.path}`, c.req));
// @ts-expect-error a scope comes from authentication, and has to be given
app.use(foreword({ memory }));
