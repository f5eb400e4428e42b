// What tools/Pack.pm has packed into a script; and that script with other bytes in it.

import { deflateSync, inflateSync } from "node:zlib";

const PACKED = /(?<=^book\.packed\["[\w/-]+"\] = ")[^"]*/m;

export const isPacked = (script) => PACKED.test(script);
export const unpacked = (script) => inflateSync(Buffer.from(script.match(PACKED)[0], "base64"));
export const packedAgain = (script, bytes) =>
  script.replace(PACKED, () => deflateSync(bytes).toString("base64"));
