/**
 * The engine's attach stream (Engine API, "Stream format"): frames of `[stream, 0, 0, 0, length32be]` and payload.
 * dockerode's own demultiplexer ignores back-pressure and loses a cut tail; this one is pulled.
 */

export interface Frame {
  readonly stream: 'stdout' | 'stderr';
  readonly data: Buffer;
}

const headerBytes = 8;

/**
 * Splits a multiplexed stream into pieces of payload, in order, at most one chunk in memory. Bytes that are no frame
 * (a TTY stream) come out as stdout, unchanged; a cut last frame gives what there is of it.
 */
export async function* readFrames(source: AsyncIterable<Buffer | Uint8Array>): AsyncGenerator<Frame> {
  let header = Buffer.alloc(0);
  let left = 0;
  let stream: Frame['stream'] = 'stdout';
  let framed: boolean | undefined;
  for await (const piece of source) {
    let chunk = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
    while (chunk.length > 0) {
      if (framed === false) {
        yield { stream: 'stdout', data: chunk };
        break;
      }
      if (left > 0) {
        const data = chunk.subarray(0, left);
        left -= data.length;
        chunk = chunk.subarray(data.length);
        yield { stream, data };
        continue;
      }
      const missing = headerBytes - header.length;
      header = Buffer.concat([header, chunk.subarray(0, missing)]);
      chunk = chunk.subarray(missing);
      if (framed === undefined && !looksFramed(header)) {
        framed = false;
        yield { stream: 'stdout', data: header };
        continue;
      }
      if (header.length < headerBytes) break;
      framed = true;
      stream = header[0] === 2 ? 'stderr' : 'stdout';
      left = header.readUInt32BE(4);
      header = Buffer.alloc(0);
    }
  }
  // A header that was cut is dropped: its bytes are no output. One that never was a header is output.
  if (framed === undefined && header.length > 0 && !looksFramed(header))
    yield { stream: 'stdout', data: header };
}

function looksFramed(header: Buffer): boolean {
  return (header[0] ?? 0) <= 2 && (header[1] ?? 0) === 0 && (header[2] ?? 0) === 0 && (header[3] ?? 0) === 0;
}
