// Turns for everybody else on the thread.

/** The longest that the event loop is kept from its other work, in milliseconds, unless one call takes longer: half a frame. */
export const SLICE_MS = 8;

/** Resolves after a turn of the event loop. Timers come last: browsers add 4 ms to nested ones. */
export function turn() {
  return new Promise(soon);
}

function soon(act) {
  const { setImmediate, scheduler } = globalThis;
  if (typeof setImmediate === 'function') setImmediate(act);
  else if (typeof scheduler?.postTask === 'function') scheduler.postTask(act);
  else setTimeout(act, 0);
}

/** A function that gives the event loop a turn once `sliceMs` have gone by since the last one, and says whether it did. */
export function pacer(sliceMs) {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < sliceMs) return false;
    await turn();
    since = performance.now();
    return true;
  };
}

/** After how long the next recall waits for a turn: what it takes itself comes on top. */
const BREATH_MS = 2;

/** When this turn of the loop was first asked for something; undefined once another has begun. */
let heldSince;

/**
 * What is to be awaited before a recall, if anything: one after the other, recalls without providers settle within one turn of the loop and would
 * hold it for as long as they go on. A recall now and then waits for nothing.
 */
export function breath() {
  if (heldSince === undefined) {
    heldSince = performance.now();
    soon(() => (heldSince = undefined));
    return undefined;
  }
  if (performance.now() - heldSince < BREATH_MS) return undefined;
  // Said here and not by the turn: where that belongs to a request that has ended, it never comes.
  heldSince = undefined;
  return turn();
}

/** The longest that hosts' timers take, in milliseconds: a longer one fires at once. */
export const LONGEST_MS = 2147483647;

/** Rejects with what `late` makes once `ms` have gone by, whatever the promise does. */
export function inTime(promise, ms, late) {
  let timer;
  const end = new Promise((_, reject) => {
    timer = setTimeout(() => reject(late()), Math.min(ms, LONGEST_MS));
  });
  return Promise.race([promise, end]).finally(() => clearTimeout(timer));
}
