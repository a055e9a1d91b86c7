// Workers: compiling from bytes is not allowed there, so the module is imported.
import module from './wasm/foreword_bg.wasm';
import { setModuleSource } from './instance.js';

setModuleSource(() => module);

export * from './foreword.js';
