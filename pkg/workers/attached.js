/** Conversations remembered; the one that was longest silent is forgotten first. */
const MOST_CONVERSATIONS = 1000;
/** Fingerprints remembered of each. */
const MOST_FINGERPRINTS = 64;

/** Which blocks have gone into which conversation, as far as this isolate knows. */
export class Attached {
  #conversations = new Map();

  has({ conversation, block }) {
    return conversation !== undefined && (this.#conversations.get(conversation)?.has(block.fingerprint) ?? false);
  }

  add({ conversation, block }) {
    if (conversation === undefined) return;
    const known = this.#conversations.get(conversation) ?? new Set();
    this.#conversations.delete(conversation);
    this.#conversations.set(conversation, known.add(block.fingerprint));
    forgetFirst(known, MOST_FINGERPRINTS);
    forgetFirst(this.#conversations, MOST_CONVERSATIONS);
  }
}

function forgetFirst(collection, most) {
  if (collection.size > most) collection.delete(collection.keys().next().value);
}
