import { unpackedProgram } from './unpacked.mjs';

/** The image registry that the pull tests talk to. */
export const registry = unpackedProgram({
  name: 'docker-registry',
  packages: ['docker-registry'],
  program: 'usr/bin/docker-registry',
  what: "Debian's docker-registry, which the pull tests talk to",
});
