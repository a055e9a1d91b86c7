/** The module: what a bundler for Workers makes of a `.wasm` import. Elsewhere the import gives what that bundler or host is set up for. */
declare const module: WebAssembly.Module;
export default module;
