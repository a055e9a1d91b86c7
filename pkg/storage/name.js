// Under which name a tenant's snapshot is kept.
import { ForewordError } from '../errors.js';

/** The longest name, in characters: what file systems take, with room for the names of half-written files. */
const LONGEST = 200;

/**
 * The name for a tenant's key. No two keys have the same one, on a file system that folds case or composes accents either, and none means
 * anything to one: whatever is not a lower-case letter, a digit, `-` or `_` stands as `%` and the hexadecimal of its UTF-8 bytes.
 * @throws ForewordError INVALID_REQUEST
 */
export function nameOf(tenant) {
  if (typeof tenant !== 'string' || tenant === '') throw refused('is a string that is not empty');
  // Half a character has no UTF-8 of its own: all of them would share one name.
  if (!wellFormed(tenant)) throw refused('is well-formed Unicode');
  let name = '_';
  for (const byte of new TextEncoder().encode(tenant)) {
    const char = String.fromCharCode(byte);
    name += /[a-z0-9_-]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
    if (name.length > LONGEST) throw refused(`takes at most ${LONGEST - 1} bytes, each but a-z, 0-9, - and _ counted three times: use a digest of it`);
  }
  return name;
}

/** The name as it was given, if no store can misunderstand it. */
export function checkedName(name) {
  if (typeof name === 'string' && name.length <= LONGEST && /^[a-z0-9_%-]+$/.test(name)) return name;
  throw new ForewordError('INVALID_REQUEST', `a store takes names made by nameOf(key), or up to ${LONGEST} of a-z, 0-9, -, _ and %`);
}

function wellFormed(text) {
  try {
    encodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function refused(rule) {
  return new ForewordError('INVALID_REQUEST', `a tenant's key ${rule}`);
}
