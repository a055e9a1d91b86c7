// Where no file can lie beside the program: the module is inside the JavaScript, a third larger for it.
import { setModuleSource } from './instance.js';
import { base64 } from './wasm/inline.js';

setModuleSource(() => {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
});

export * from './foreword.js';
