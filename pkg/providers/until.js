// Waiting no longer than the caller does.

/** A promise, or the signal's reason if that fires first: what cannot be called off is at least not waited for. */
export function until(signal, promise) {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const give = () => reject(signal.reason);
    if (signal.aborted) give();
    signal.addEventListener('abort', give, { once: true });
    Promise.resolve(promise).then(resolve, reject).finally(() => signal.removeEventListener('abort', give));
  });
}
