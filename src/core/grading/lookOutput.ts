/**
 * What the look prints, up to its end marks: an empty field on stdout, the line `looked` on stderr. The tests run
 * behind it in the same exec and can reach its streams; whatever comes after the marks is theirs and is dropped.
 */
export class LookOutput {
  readonly #stdout: Buffer[] = [];
  #stdoutEnded = false;
  #stderr = '';
  #stderrEnded = false;

  write(data: Buffer, stream: 'stdout' | 'stderr'): void {
    if (stream === 'stderr') this.#writeStderr(data);
    else if (!this.#stdoutEnded) this.#writeStdout(data);
  }

  /** The files in front of which it looks are in: a line of its own on stderr, `copied`. */
  get isCopied(): boolean {
    return /^copied$/m.test(this.#stderr);
  }

  get stdout(): Buffer {
    return Buffer.concat(this.#stdout);
  }

  /** Both marks came: it is whole. */
  get isWhole(): boolean {
    return this.#stdoutEnded && this.#stderrEnded;
  }

  get stderr(): Buffer {
    return Buffer.from(this.#stderr, 'latin1');
  }

  #writeStdout(data: Buffer): void {
    // The mark may lie across two pieces.
    const split = data[0] === 0 && this.#stdout.at(-1)?.at(-1) === 0;
    const mark = split ? 0 : data.indexOf('\0\0', 0, 'latin1') + 1;
    this.#stdoutEnded = split || mark > 0;
    const listing = this.#stdoutEnded ? data.subarray(0, mark) : data;
    if (listing.length > 0) this.#stdout.push(Buffer.from(listing));
  }

  #writeStderr(data: Buffer): void {
    if (this.#stderrEnded) return;
    this.#stderr += data.toString('latin1');
    const mark = /^looked$/m.exec(this.#stderr);
    if (!mark) return;
    this.#stderrEnded = true;
    this.#stderr = this.#stderr.slice(0, mark.index);
  }
}
