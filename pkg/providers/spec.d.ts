import type { Provider } from '../foreword.js';

/** What every provider takes: its id, who may ask it, its topics, timeout and limit. */
export type Spec = Omit<Provider, 'search'>;
