import { aptCommands, aptInstall, hasApt, rootPrefix } from './apt.mjs';
import { which } from './paths.mjs';
import { unpackedProgram } from './unpacked.mjs';

/** The ssh server that the tests of a remote engine log in to, on the loopback. */
export const sshd = unpackedProgram({
  name: 'sshd',
  packages: ['openssh-server', 'libwrap0'],
  program: 'usr/sbin/sshd',
  what: "Debian's OpenSSH server, which the tests of a remote engine start for themselves",
});

/** The step that installs Podman, which its tests start for themselves; undefined where there is one or none can be had. */
export function planPodman() {
  if (which('podman') || !hasApt() || !rootPrefix()) return undefined;
  // Its containers of workspaces have an init, which is a package of its own.
  const packages = ['podman', 'catatonit', ...(which('ssh') ? [] : ['openssh-client'])];
  return {
    title: 'Install Podman, whose grades are tested too',
    commands: aptCommands(packages),
    run: () => aptInstall(packages),
  };
}
