import type { SnapshotStore } from './index.js';

/** A folder of files, which is made when it is first written to. A file is replaced as a whole. */
export function files(folder: string): SnapshotStore;
