// foreword as a peer, in one of its three forms.
import { Foreword, buildSnapshot, init } from 'foreword';

export function foreword(title, kind, ranking, config, ask) {
  return {
    title,
    package: 'foreword',
    kind,
    ranking,
    async build(docs) {
      await init();
      const { bytes, reports } = await buildSnapshot({ records: docs.map(({ id, text }) => ({ id: String(id), statement: text })) });
      if (reports.length) throw new Error(reports[0].message);
      return bytes;
    },
    load: (bytes) => Foreword.load(bytes, { config }),
    async query(memory, text, limit) {
      const { evidence } = await ask(memory, text, { limit });
      return evidence.map(({ id, score, text }) => ({ id: Number(id), score, text }));
    },
  };
}
