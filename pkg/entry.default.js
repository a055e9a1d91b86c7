// Browsers and bundlers: the module is fetched from beside this file, at first use.
import { setModuleSource } from './instance.js';

setModuleSource(() => fetch(new URL('./wasm/foreword_bg.wasm', import.meta.url)));

export * from './foreword.js';
