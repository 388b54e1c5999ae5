import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** On everything that we create in an engine; its value says what it is. */
export const workbenchLabel = 'dev.e2e-swe.workbench';
/** `host|pid|start time` of the process that made it: the reaper removes only what a dead owner left. */
export const ownerLabel = 'dev.e2e-swe.workbench.owner';
/** Set on containers that the user asked to keep; its value is the folder of the grade. */
export const keepLabel = 'dev.e2e-swe.workbench.keep';
/**
 * What dev container tools read of an image or a container: an image's label can have them mount the engine's socket,
 * add capabilities and run commands (fs-channel.md §1), so every container of ours says `noMetadata`.
 */
export const metadataLabel = 'devcontainer.metadata';
export const noMetadata = '[]';
/** The environment id of an image that we built. */
export const environmentLabel = 'dev.e2e-swe.workbench.environment';

export interface Owner {
  readonly host: string;
  readonly pid: number;
  readonly startTime: string;
}

/** Labels of a grade container of this process. */
export function gradeLabels(options: { readonly keepFor?: string | undefined }): Record<string, string> {
  return {
    [workbenchLabel]: 'grade',
    [ownerLabel]: formatOwner(currentOwner()),
    ...(options.keepFor === undefined ? {} : { [keepLabel]: options.keepFor }),
    [metadataLabel]: noMetadata,
  };
}

export function currentOwner(): Owner {
  return ownerOf(process.pid);
}

/** A process of this host. */
export function ownerOf(pid: number): Owner {
  return { host: hostId(), pid, startTime: processStartTime(pid) ?? 'unknown' };
}

export function formatOwner(owner: Owner): string {
  return `${owner.host}|${owner.pid}|${owner.startTime}`;
}

export function parseOwner(text: string | undefined): Owner | undefined {
  const match = /^(.*)\|(\d+)\|([^|]*)$/.exec(text ?? '');
  return match
    ? { host: match[1] as string, pid: Number(match[2]), startTime: match[3] as string }
    : undefined;
}

/** True only when the owner ran on this host and certainly runs no more: a doubt keeps the container. */
export function isDeadOwner(owner: Owner): boolean {
  if (owner.host !== hostId()) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const now = processStartTime(owner.pid);
  return now !== undefined && owner.startTime !== 'unknown' && now !== owner.startTime;
}

/** Host name, boot and pid namespace: pids of an earlier boot, or of another container that shares the engine, mean nothing here. */
function hostId(): string {
  const boot = readProc('/proc/sys/kernel/random/boot_id')?.trim();
  return [hostname(), boot, pidNamespace()].filter(Boolean).join('/');
}

/** `pid:[4026531836]`: a pid of another container on this host, though it may share the name, is not ours to judge. */
function pidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** Field 22 of /proc/PID/stat (proc(5)); undefined where there is no /proc or no such process. */
function processStartTime(pid: number): string | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function readProc(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
