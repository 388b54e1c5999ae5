import { normaliseArtifacts } from './artifacts.ts';
import type { FolderFacts } from './folder.ts';
import type { TaskConfig } from './types.ts';
import type { ResolvedVerifier } from './verifier.ts';

/** Valid task shapes that we cannot grade yet. To support one, drop its row (and give the engine what it needs). */

/** What a row looks at. */
export interface ShapeInput {
  readonly config: TaskConfig;
  readonly verifier: ResolvedVerifier;
  readonly facts: FolderFacts;
}

/** Where the shape shows: a key of task.toml, or a file. */
interface Finding {
  readonly what: string;
  readonly key?: readonly (string | number)[];
  readonly file?: string;
}

export interface UnsupportedShape {
  /** The code of the problem. */
  readonly code: string;
  readonly find: (input: ShapeInput) => Finding | undefined;
}

export const UNSUPPORTED_SHAPES: readonly UnsupportedShape[] = [
  {
    code: 'unsupported-multi-step',
    find: ({ config }) =>
      config.steps?.length ? { what: 'Multi-step tasks ([[steps]])', key: ['steps'] } : undefined,
  },
  {
    code: 'unsupported-compose',
    find: ({ facts, verifier }) => {
      const inTests = facts.testsCompose && verifier.mode === 'separate';
      if (!facts.environmentCompose && !inTests) return undefined;
      const file = `${facts.environmentCompose ? 'environment' : 'tests'}/docker-compose.yaml`;
      return { what: `Docker Compose tasks (${file})`, file };
    },
  },
  {
    code: 'unsupported-windows',
    find: ({ config, verifier }) => {
      if (config.environment.os === 'windows') return windows(['environment', 'os']);
      return verifier.environment.os === 'windows' ? windows(['verifier', 'environment', 'os']) : undefined;
    },
  },
  {
    code: 'unsupported-gpu',
    find: ({ config, verifier }) => {
      if ((verifier.environment.gpus ?? 0) <= 0) return undefined;
      return { what: 'Tasks that need a GPU', key: [...environmentKey(config, verifier), 'gpus'] };
    },
  },
  {
    code: 'unsupported-tpu',
    find: ({ config, verifier }) => {
      if (verifier.environment.tpu === null) return undefined;
      return { what: 'Tasks that need a TPU', key: [...environmentKey(config, verifier), 'tpu'] };
    },
  },
  {
    // Only the network of the verifier counts: the agent's own allowlist is over when a grade begins.
    code: 'unsupported-allowlist',
    find: ({ config, verifier }) => {
      if (verifier.network !== 'allowlist') return undefined;
      const phase = config.verifier.network_mode !== null;
      const key = phase ? ['verifier'] : environmentKey(config, verifier);
      return { what: 'Verifiers with a network allowlist', key: [...key, 'network_mode'] };
    },
  },
  {
    code: 'unsupported-sidecar',
    find: ({ config }) => {
      const artifact = normaliseArtifacts({ config }).find((entry) => (entry.service || 'main') !== 'main');
      if (artifact) return { what: `Artifacts of the service "${artifact.service}"`, key: ['artifacts'] };
      const index = config.verifier.collect.findIndex((hook) => hook.service !== 'main');
      if (index < 0) return undefined;
      return { what: 'Collect commands in other services', key: ['verifier', 'collect', index, 'service'] };
    },
  },
];

function windows(key: readonly string[]): Finding {
  return { what: 'Windows tasks (os = "windows")', key };
}

/** The table that the verifier's environment was read from. */
function environmentKey(config: TaskConfig, verifier: ResolvedVerifier): readonly string[] {
  return verifier.mode === 'separate' && config.verifier.environment !== null
    ? ['verifier', 'environment']
    : ['environment'];
}
