// Builds snapshots beside the page, so that no frame of it is held.
import { buildSnapshot } from '../../pkg/entry.default.js';

onmessage = async ({ data: { notes, records } }) => {
  try {
    const { bytes, reports } = await buildSnapshot({ notes, records, onProgress: (done) => postMessage({ done }) });
    postMessage({ bytes, reports }, [bytes.buffer]);
  } catch (error) {
    postMessage({ error: error.message });
  }
};
