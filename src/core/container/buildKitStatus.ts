/**
 * The two parts of BuildKit's `moby.buildkit.v1.StatusResponse` that a person reads: started steps and output.
 * dockerode's own decoder leaves output bytes in base64, so the few fields are read here (protobuf encoding guide:
 * a tag varint `field << 3 | type`, then a varint, 8 bytes, a length-prefixed run, or 4 bytes).
 */
export interface BuildKitStatus {
  readonly steps: readonly { readonly name: string; readonly started: boolean; readonly error: string }[];
  readonly output: readonly string[];
}

const response = { vertexes: 1, logs: 3 };
const vertex = { name: 3, started: 5, error: 7 };
const log = { message: 4 };

/** Decodes the `aux` value (base64) of a `moby.buildkit.trace` event; what is cut short is left out. */
export function decodeBuildKitStatus(aux: string): BuildKitStatus {
  const steps: { name: string; started: boolean; error: string }[] = [];
  const output: string[] = [];
  for (const { field, bytes } of fields(Buffer.from(aux, 'base64'))) {
    if (field === response.vertexes) {
      const parts = [...fields(bytes)];
      const text = (wanted: number): string =>
        parts.find((part) => part.field === wanted)?.bytes.toString('utf8') ?? '';
      steps.push({
        name: text(vertex.name),
        started: parts.some((part) => part.field === vertex.started),
        error: text(vertex.error),
      });
    } else if (field === response.logs) {
      for (const part of fields(bytes))
        if (part.field === log.message) output.push(part.bytes.toString('utf8'));
    }
  }
  return { steps, output };
}

/** Length-prefixed fields of one message; others are stepped over. */
function* fields(message: Buffer): Generator<{ field: number; bytes: Buffer }> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; at < message.length; shift += 7) {
      const byte = message[at++] as number;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < message.length) {
    const tag = varint();
    const type = tag % 8;
    if (type === 0) varint();
    else if (type === 1) at += 8;
    else if (type === 5) at += 4;
    else if (type === 2) {
      const length = varint();
      yield { field: Math.floor(tag / 8), bytes: message.subarray(at, at + length) };
      at += length;
    } else return;
  }
}
