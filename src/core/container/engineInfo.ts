import { z } from 'zod';
import { EngineError, type EngineInfo, type LimitName } from './engine.ts';

/** What is read of the answer to `GET /info`; engines differ in what they leave out. */
const infoAnswer = z.object({
  ID: z.string().optional(),
  NCPU: z.number(),
  MemTotal: z.number(),
  DockerRootDir: z.string().default(''),
  CgroupVersion: z.string().optional(),
  CgroupDriver: z.string().optional(),
  MemoryLimit: z.boolean().optional(),
  CpuCfsPeriod: z.boolean().optional(),
  CpuCfsQuota: z.boolean().optional(),
  PidsLimit: z.boolean().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
  Rootless: z.boolean().optional(),
});

/** The same of `GET /version`. */
const versionAnswer = z.object({
  Version: z.string(),
  Os: z.string(),
  Arch: z.string(),
  Components: z.array(z.object({ Name: z.string() })).nullish(),
});

/** What an engine said about itself. Errors: `EngineError` when it is no engine. */
export function readEngineInfo(info: unknown, version: unknown, address: string): EngineInfo {
  const about = infoAnswer.safeParse(info).data;
  const told = versionAnswer.safeParse(version).data;
  if (!about || !told)
    throw new EngineError('unreachable', `What answers at ${address} is no Docker engine.`);
  const isPodman = told.Components?.some(({ Name }) => /^podman/i.test(Name)) ?? false;
  const rootless =
    about.Rootless ?? about.SecurityOptions?.some((option) => /^name=rootless(?:,|$)/.test(option)) ?? false;
  return {
    // Podman makes a new one for each answer.
    id: isPodman ? '' : (about.ID ?? ''),
    product: isPodman ? 'Podman' : 'Docker',
    version: told.Version,
    os: told.Os,
    arch: told.Arch,
    cpus: about.NCPU,
    memoryBytes: about.MemTotal,
    address,
    rootDir: about.DockerRootDir,
    buildKit: !isPodman && Number.parseInt(told.Version, 10) >= 23,
    rootless,
    cgroup: about.CgroupVersion === '2' ? 2 : about.CgroupVersion === '1' ? 1 : null,
    unenforced: unenforced(about),
  };
}

/**
 * Limits that the engine would refuse or drop: a kernel without the controller, or, rootless, a cgroup that was not
 * delegated (`CgroupDriver` is `none` there). One that says nothing of a limit has it.
 */
function unenforced(about: z.infer<typeof infoAnswer>): LimitName[] {
  const none = about.CgroupDriver === 'none';
  return [
    ...(none || about.CpuCfsQuota === false || about.CpuCfsPeriod === false ? (['cpus'] as const) : []),
    ...(none || about.MemoryLimit === false ? (['memory'] as const) : []),
    ...(none || about.PidsLimit === false ? (['pids'] as const) : []),
  ];
}
