// Edge runtimes that follow Vercel's convention: `?module` asks for a compiled module.
import module from './wasm/foreword_bg.wasm?module';
import { setModuleSource } from './instance.js';

setModuleSource(() => module);

export * from './foreword.js';
