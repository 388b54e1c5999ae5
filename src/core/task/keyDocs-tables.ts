/** The documentation of the tables that task.toml has in several places: `[environment]`, `[verifier]`, `[agent]`. */

export type KeyType =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'string or integer'
  | 'strings'
  | 'table'
  /** Array of tables. */
  | 'tables'
  /** Any keys. */
  | 'free table'
  /** Any keys, values are texts. */
  | 'text table'
  | 'number or table'
  /** Array of texts and tables. */
  | 'artifacts';

export interface KeyDoc {
  readonly key: string;
  readonly type: KeyType;
  /** What it means. */
  readonly about: string;
  readonly unit?: 'seconds' | 'MiB';
  /** As JSON and TOML both write it; absent: no value. */
  readonly default?: string;
  readonly required?: boolean;
  /** The version of the task format that brought it; absent for keys that are not Harbor's. */
  readonly since?: string;
  /** All values that Harbor takes. */
  readonly values?: readonly string[];
  /** The key that replaces it. */
  readonly deprecatedBy?: string;
  /** `e2e-swe`: the benchmark's or our own, which Harbor does not read. */
  readonly origin: 'harbor' | 'e2e-swe';
  /** A task.toml that Harbor accepts. */
  readonly example: string;
  /** The keys of the table, or of each table of the array. */
  readonly inner?: readonly KeyDoc[];
}

type More = Partial<Omit<KeyDoc, 'key' | 'type' | 'about' | 'example'>> & { readonly example: string };

/** Harbor's own keys are of format 1.0 unless said otherwise. */
export function key(name: string, type: KeyType, about: string, more: More): KeyDoc {
  const origin = more.origin ?? 'harbor';
  return { key: name, type, about, ...(origin === 'harbor' && { since: '1.0' }), ...more, origin };
}

/** The text before the keys of a table in an example. */
function opening(table: string): string {
  return table.startsWith('steps') ? `[[steps]]\nname = "design"\n[${table}]\n` : `[${table}]\n`;
}

const networkModes = ['public', 'no-network', 'allowlist'];

function networkKeys(table: string, isPhase: boolean): readonly KeyDoc[] {
  const phase = isPhase ? ' While this phase runs; absent: as the environment says.' : '';
  return [
    key(
      'network_mode',
      'string',
      `What the container may reach: everything, nothing, or only \`allowed_hosts\`.${phase}`,
      {
        ...(!isPhase && { default: '"public"' }),
        values: networkModes,
        since: '1.3',
        example: `${opening(table)}network_mode = "no-network"\n`,
      },
    ),
    key(
      'allowed_hosts',
      'strings',
      'Host names (`*.example.org` too), addresses and networks that may be reached; only with `network_mode = "allowlist"`. No URLs, no ports.',
      {
        since: '1.3',
        example: `${opening(table)}network_mode = "allowlist"\nallowed_hosts = ["pkg.test", "10.0.0.0/8"]\n`,
      },
    ),
  ];
}

function userKey(table: string, who: string): KeyDoc {
  return key(
    'user',
    'string or integer',
    `Name or number of the user that runs ${who}. Absent: the image's.`,
    {
      example: `${opening(table)}user = "agent"\n`,
    },
  );
}

/** `[agent]` and `[steps.agent]`. */
export function agentKeys(table: string): readonly KeyDoc[] {
  return [
    ...networkKeys(table, true),
    key('timeout_sec', 'number', 'How long the agent may work. Absent: as long as it wants.', {
      unit: 'seconds',
      example: `${opening(table)}timeout_sec = 14400.0\n`,
    }),
    userKey(table, 'the agent'),
  ];
}

/** `[verifier]` and `[steps.verifier]`. */
export function verifierKeys(table: string): readonly KeyDoc[] {
  const collect = `${table.startsWith('steps') ? '[[steps]]\nname = "design"\n' : ''}[[${table}.collect]]\n`;
  return [
    ...networkKeys(table, true),
    key('timeout_sec', 'number', 'How long `tests/test.sh` may run. `0` stops it at once.', {
      unit: 'seconds',
      default: '600.0',
      example: `${opening(table)}timeout_sec = 900.0\n`,
    }),
    key(
      'env',
      'text table',
      `Variables for the verifier. \`\${NAME}\` and \`\${NAME:-default}\` are read from the host when it runs.`,
      { default: '{}', example: `${opening(table)}env = { SEED = "1" }\n` },
    ),
    userKey(table, 'the verifier'),
    key(
      'environment_mode',
      'string',
      "Where the verifier runs: in the agent's container, or in a fresh one that gets only the artifacts. Absent: separate where `[verifier.environment]` exists, else shared.",
      {
        values: ['shared', 'separate'],
        since: '1.2',
        example: `${opening(table)}environment_mode = "separate"\n`,
      },
    ),
    key(
      'environment',
      'table',
      "The separate verifier's own container; the keys of `[environment]`. Absent: a copy of `[environment]`.",
      {
        since: '1.2',
        example: `${opening(`${table}.environment`)}memory_mb = 4096\n`,
        inner: environmentKeys(`${table}.environment`),
      },
    ),
    key(
      'collect',
      'tables',
      "Commands that run in the agent's containers before the artifacts are taken. One that fails stops nothing.",
      {
        default: '[]',
        since: '1.3',
        example: `${collect}command = "pg_dump app > /logs/artifacts/app.sql"\n`,
        inner: [
          key('command', 'string', 'The shell command.', {
            required: true,
            since: '1.3',
            example: `${collect}command = "make report"\n`,
          }),
          key('service', 'string', 'The Compose service in which it runs.', {
            default: '"main"',
            since: '1.3',
            example: `${collect}command = "make report"\nservice = "db"\n`,
          }),
          key('timeout_sec', 'number', 'How long it may run.', {
            unit: 'seconds',
            default: '60.0',
            since: '1.3',
            example: `${collect}command = "make report"\ntimeout_sec = 120.0\n`,
          }),
          key('user', 'string or integer', "Name or number of the user that runs it. Absent: the image's.", {
            since: '1.3',
            example: `${collect}command = "make report"\nuser = "root"\n`,
          }),
        ],
      },
    ),
    ...(table === 'verifier' ? [testCaseCount] : []),
  ];
}

const testCaseCount = key(
  'test_case_count',
  'integer',
  'How many hidden tests the verifier reports. A grade is resolved only when that many passed; without it the reward alone decides, and missing tests go unseen.',
  { origin: 'e2e-swe', example: '[verifier]\ntest_case_count = 46\n' },
);

export function healthcheckDoc(table: string): KeyDoc {
  const head = table === 'steps' ? '[[steps]]\nname = "design"\n' : '';
  const example = `${table.startsWith('steps.') ? '[[steps]]\nname = "design"\n' : head}[${table}.healthcheck]\ncommand = "curl -sf localhost:8080"\n`;
  const seconds = (name: string, about: string, value: string): KeyDoc =>
    key(name, 'number', about, {
      unit: 'seconds',
      default: value,
      since: '1.1',
      example: `${example}${name} = ${value}\n`,
    });
  return key('healthcheck', 'table', 'A command that says when the environment is ready.', {
    since: '1.1',
    example,
    inner: [
      key('command', 'string', 'The shell command; exit code 0 means ready.', {
        required: true,
        since: '1.1',
        example,
      }),
      seconds('interval_sec', 'Time between two attempts.', '5.0'),
      seconds('timeout_sec', 'How long one attempt may take.', '30.0'),
      seconds('start_period_sec', 'Time after the start in which failures do not count.', '0.0'),
      seconds('start_interval_sec', 'Time between two attempts in the start period.', '5.0'),
      key('retries', 'integer', 'So many failures in a row, and the environment counts as broken.', {
        default: '3',
        since: '1.1',
        example: `${example}retries = 10\n`,
      }),
    ],
  });
}

function legacyKeys(table: string): readonly KeyDoc[] {
  return [
    key('memory', 'string', 'Memory as text with `G`, `M` or `K`, for instance `"2G"`.', {
      deprecatedBy: 'memory_mb',
      example: `${opening(table)}memory = "2G"\n`,
    }),
    key('storage', 'string', 'Disk as text with `G`, `M` or `K`, for instance `"10G"`.', {
      deprecatedBy: 'storage_mb',
      example: `${opening(table)}storage = "10G"\n`,
    }),
    key(
      'allow_internet',
      'boolean',
      'Decides the network only where neither `network_mode` nor `allowed_hosts` is written: `false` is `"no-network"`, `true` is `"public"`.',
      { deprecatedBy: 'network_mode', example: `${opening(table)}allow_internet = false\n` },
    ),
  ];
}

/** `[environment]` and the environments of verifiers. */
export function environmentKeys(table: string): readonly KeyDoc[] {
  const open = opening(table);
  const server = `${table.startsWith('steps') ? '[[steps]]\nname = "design"\n' : ''}[[${table}.mcp_servers]]\nname = "docs"\n`;
  return [
    ...networkKeys(table, false),
    key('build_timeout_sec', 'number', 'How long building and starting the container may take together.', {
      unit: 'seconds',
      default: '600.0',
      example: `${open}build_timeout_sec = 1200.0\n`,
    }),
    key(
      'docker_image',
      'string',
      'The image, with its registry, tag or digest. Absent: the Dockerfile is built.',
      {
        example: `${open}docker_image = "debian:13-slim"\n`,
      },
    ),
    key('os', 'string', 'The operating system of the container; upper case is accepted.', {
      default: '"linux"',
      values: ['linux', 'windows'],
      since: '1.2',
      example: `${open}os = "linux"\n`,
    }),
    key('cpus', 'integer', 'Processors, a hard limit on Docker. Absent: no limit (one before format 1.2).', {
      example: `${open}cpus = 2\n`,
    }),
    key(
      'memory_mb',
      'integer',
      'Memory, a hard limit on Docker. Absent: no limit (2048 before format 1.2).',
      {
        unit: 'MiB',
        example: `${open}memory_mb = 4096\n`,
      },
    ),
    key('storage_mb', 'integer', 'Disk space. Docker does not enforce it.', {
      unit: 'MiB',
      example: `${open}storage_mb = 10240\n`,
    }),
    key('gpus', 'integer', 'GPUs. More than none does not run on Docker.', { example: `${open}gpus = 1\n` }),
    key('gpu_types', 'strings', 'The kinds of GPU that will do. Absent: any.', {
      example: `${open}gpus = 1\ngpu_types = ["H100", "A100"]\n`,
    }),
    key('tpu', 'table', 'TPUs, on Google Kubernetes Engine only.', {
      since: '1.2',
      example: `${open}tpu = { type = "v5e", topology = "2x4" }\n`,
      inner: [
        key('type', 'string', 'The kind of TPU.', {
          required: true,
          since: '1.2',
          example: `${open}tpu = { type = "v5e", topology = "2x4" }\n`,
        }),
        key('topology', 'string', 'Dimensions of the slice, for instance `2x4` or `2x2x1`.', {
          required: true,
          since: '1.2',
          example: `${open}tpu = { type = "v5e", topology = "2x2x1" }\n`,
        }),
      ],
    }),
    key('mcp_servers', 'tables', 'Servers of the Model Context Protocol that the agent gets.', {
      default: '[]',
      example: `${server}url = "http://docs:8000/sse"\n`,
      inner: [
        key('name', 'string', 'The name under which the agent sees it.', {
          required: true,
          example: `${server}url = "http://docs:8000/sse"\n`,
        }),
        key(
          'transport',
          'string',
          'How the agent talks to it. `http` is an old spelling of `streamable-http`.',
          {
            default: '"sse"',
            values: ['sse', 'stdio', 'streamable-http'],
            example: `${server}transport = "streamable-http"\nurl = "http://docs:8000/mcp"\n`,
          },
        ),
        key('url', 'string', 'Its address; required unless `transport` is `stdio`.', {
          example: `${server}url = "http://docs:8000/sse"\n`,
        }),
        key('command', 'string', 'The command that starts it; required where `transport` is `stdio`.', {
          example: `${server}transport = "stdio"\ncommand = "docs-server"\n`,
        }),
        key('args', 'strings', 'Arguments of `command`.', {
          default: '[]',
          example: `${server}transport = "stdio"\ncommand = "docs-server"\nargs = ["--quiet"]\n`,
        }),
      ],
    }),
    key(
      'env',
      'text table',
      `Variables of the container; values are texts. \`\${NAME}\` and \`\${NAME:-default}\` are read from the host.`,
      { default: '{}', example: `${open}env = { LANG = "C.UTF-8" }\n` },
    ),
    key('skills_dir', 'string', 'Folder in the container whose skills the agent gets.', {
      example: `${open}skills_dir = "/skills"\n`,
    }),
    healthcheckDoc(table),
    key('workdir', 'string', "Folder in which commands run. Absent: the image's `WORKDIR`.", {
      since: '1.1',
      example: `${open}workdir = "/app"\n`,
    }),
    ...legacyKeys(table),
  ];
}
