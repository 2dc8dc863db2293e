import { keccak_256 } from '@noble/hashes/sha3.js';

/** Entries of the cache: about 3 MB, and more than the addresses of a small chain. */
const cacheLimit = 16_384;
const cache = new Map<string, string>();

/** The mixed-case form of a lower-case address with 0x: https://eips.ethereum.org/EIPS/eip-55. */
export function checksumAddress(address: string): string {
  const known = cache.get(address);
  if (known !== undefined) return known;
  // Emptied whole: keeping an order of use would cost more than the few hashes it saves.
  if (cache.size >= cacheLimit) cache.clear();
  const mixed = mixCase(address.slice(2));
  cache.set(address, mixed);
  return mixed;
}

function mixCase(digits: string): string {
  const digest = keccak_256(Buffer.from(digits, 'latin1'));
  let mixed = '0x';
  for (let position = 0; position < digits.length; position += 1) {
    const digit = digits.charAt(position);
    const byte = digest[position >> 1] ?? 0;
    const nibble = position % 2 === 0 ? byte >> 4 : byte & 0x0f;
    mixed += nibble >= 8 ? digit.toUpperCase() : digit;
  }
  return mixed;
}
