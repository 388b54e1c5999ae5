import type { Surroundings } from '#core/container/endpoint.ts';

/** A machine out of a table: its files by path, its folders as what the paths imply. */
export function machine(
  parts: {
    readonly platform?: NodeJS.Platform;
    readonly env?: NodeJS.ProcessEnv;
    readonly home?: string;
    readonly uid?: number;
    readonly files?: Readonly<Record<string, string>>;
  } = {},
): Surroundings {
  const { platform = 'linux', env = {}, files = {}, uid } = parts;
  const separator = platform === 'win32' ? '\\' : '/';
  return {
    platform,
    env,
    home: parts.home ?? (platform === 'win32' ? 'C:\\Users\\me' : '/home/me'),
    uid: platform === 'win32' ? undefined : uid,
    readFile: (file) => (files[file] === undefined ? undefined : Buffer.from(files[file])),
    readFolder: (folder) => {
      const prefix = folder + separator;
      const below = Object.keys(files).filter((file) => file.startsWith(prefix));
      return [...new Set(below.map((file) => file.slice(prefix.length).split(separator)[0] ?? ''))];
    },
  };
}
