// What tools/Pack.pm has packed into a script; and that script with other bytes in it.

import { deflateSync, inflateSync } from "node:zlib";

const PACKED = /(?<=^book\.packed\["[\w/-]+"\] = ")[^"]*/m;

export const isPacked = (script) => PACKED.test(script);
export const unpacked = (script) => inflateSync(Buffer.from(script.match(PACKED)[0], "base64"));
export const packedAgain = (script, bytes) =>
  script.replace(PACKED, () => deflateSync(bytes).toString("base64"));

// The same script, in whose data a number, wherever it stands, is another.
export function spoiled(script, number, other) {
  const bytes = unpacked(script);
  const wanted = Buffer.from(Float32Array.of(number).buffer);
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at))
    bytes.writeFloatLE(other, at);
  return packedAgain(script, bytes);
}
