// Several arrays as one run of bytes: what the hand-written peers keep.
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** JSON first, then typed arrays of four bytes an element. */
export function pack(json, ...arrays) {
  const head = encoder.encode(JSON.stringify({ json, lengths: arrays.map((array) => array.length) }));
  const start = (4 + head.length + 3) & ~3;
  const bytes = new Uint8Array(arrays.reduce((sum, array) => sum + array.byteLength, start));
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, 4);
  let at = start;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += array.byteLength;
  }
  return bytes;
}

/** The arrays lie in the given bytes, which have to be aligned as they were. */
export function unpack(bytes, ...types) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const { json, lengths } = JSON.parse(decoder.decode(bytes.subarray(4, 4 + length)));
  let at = bytes.byteOffset + ((4 + length + 3) & ~3);
  const arrays = types.map((Type, number) => {
    const array = new Type(bytes.buffer, at, lengths[number]);
    at += array.byteLength;
    return array;
  });
  return [json, ...arrays];
}

export const toBytes = (value) => encoder.encode(JSON.stringify(value));
export const fromBytes = (bytes) => JSON.parse(decoder.decode(bytes));
