import {
  agentKeys,
  environmentKeys,
  healthcheckDoc,
  type KeyDoc,
  key,
  verifierKeys,
} from './keyDocs-tables.ts';

/**
 * What every key of task.toml means, for hovers, completion and the JSON schema (harbor.md §2). The tables are the
 * model's own; a test compares their keys with the schemas'. Strings are Markdown.
 */

const artifacts = (about: string, open = ''): KeyDoc =>
  key('artifacts', 'artifacts', about, {
    default: '[]',
    since: '1.2',
    example: `${open}artifacts = ["/app", { source = "/var/log/app", exclude = ["*.tmp"] }]\n`,
    inner: [
      key('source', 'string', 'Path in the container, without `..`. A folder is taken with its contents.', {
        required: true,
        since: '1.2',
        example: `${open}artifacts = [{ source = "/app" }]\n`,
      }),
      key(
        'destination',
        'string',
        'Where the copy is placed on the host, relative to the trial. It never changes where the verifier sees the files.',
        { since: '1.2', example: `${open}artifacts = [{ source = "/app", destination = "work" }]\n` },
      ),
      key('exclude', 'strings', 'Patterns of `tar --exclude` that are left out of a folder.', {
        default: '[]',
        since: '1.2',
        example: `${open}artifacts = [{ source = "/app", exclude = ["node_modules"] }]\n`,
      }),
      key('service', 'string', 'The Compose service to copy from; its `source` is an absolute path.', {
        since: '1.3',
        example: `${open}artifacts = [{ source = "/data", service = "db" }]\n`,
      }),
    ],
  });

const taskKeys: readonly KeyDoc[] = [
  key('name', 'string', 'The name of the task in a registry: `org/name` of letters, digits, `.`, `_`, `-`.', {
    required: true,
    since: '1.1',
    example: '[task]\nname = "acme/fix-the-parser"\n',
  }),
  key('version', 'string', 'The version of the task itself; not the version of the format.', {
    since: '1.4',
    example: '[task]\nname = "acme/fix-the-parser"\nversion = "2.0.1"\n',
  }),
  key('description', 'string', 'One line about the task, for lists.', {
    default: '""',
    since: '1.1',
    example: '[task]\nname = "acme/fix-the-parser"\ndescription = "Make the parser accept comments"\n',
  }),
  key('authors', 'tables', 'Who wrote the task. Plain texts are an error: each author is a table.', {
    default: '[]',
    since: '1.1',
    example: '[task]\nname = "acme/fix-the-parser"\nauthors = [{ name = "Ada" }]\n',
    inner: [
      key('name', 'string', 'Name of the author.', {
        required: true,
        since: '1.1',
        example: '[task]\nname = "acme/fix-the-parser"\nauthors = [{ name = "Ada" }]\n',
      }),
      key('email', 'string', 'E-mail address of the author.', {
        since: '1.1',
        example:
          '[task]\nname = "acme/fix-the-parser"\nauthors = [{ name = "Ada", email = "ada@example.org" }]\n',
      }),
    ],
  }),
  key('keywords', 'strings', 'Words to find the task by.', {
    default: '[]',
    since: '1.1',
    example: '[task]\nname = "acme/fix-the-parser"\nkeywords = ["parser", "python"]\n',
  }),
];

/** The two scripts of a hardened grade (`readContract`). */
const contractKeys: readonly KeyDoc[] = [
  key(
    'setup',
    'string',
    "A script below `tests/` that runs the submission's own set-up, for a hardened grade: in a container without tests.",
    { origin: 'e2e-swe', example: '[metadata.e2e_swe_workbench]\nsetup = "setup_phase.sh"\n' },
  ),
  key(
    'test',
    'string',
    'A script below `tests/` that runs the hidden tests, for a hardened grade: as root, in a second container. It is to run the product as `$E2E_SWE_PRODUCT_UID` and `$E2E_SWE_PRODUCT_GID`, and to write the reward and the report itself.',
    { origin: 'e2e-swe', example: '[metadata.e2e_swe_workbench]\ntest = "hidden_phase.sh"\n' },
  ),
];

/** Free to the author; the keys below are those that we and the E2E-SWE benchmark read. */
const metadataKeys: readonly KeyDoc[] = [
  key('category', 'string', 'The kind of program that the task asks for, as lists and statistics show it.', {
    origin: 'e2e-swe',
    example: '[metadata]\ncategory = "query-and-database"\n',
  }),
  key('programming_language', 'string', 'The language that the work is to be written in.', {
    origin: 'e2e-swe',
    example: '[metadata]\nprogramming_language = "python"\n',
  }),
  key('e2e_swe_workbench', 'free table', 'What E2E-SWE Workbench alone reads; Harbor does not.', {
    origin: 'e2e-swe',
    example: '[metadata.e2e_swe_workbench]\nsetup = "setup_phase.sh"\ntest = "hidden_phase.sh"\n',
    inner: contractKeys,
  }),
];

const stepKeys: readonly KeyDoc[] = [
  key('name', 'string', 'Name of the step and of its folder `steps/<name>/`.', {
    required: true,
    since: '1.1',
    example: '[[steps]]\nname = "design"\n',
  }),
  key('agent', 'table', 'The agent of this step; the keys of `[agent]`.', {
    since: '1.1',
    example: '[[steps]]\nname = "design"\n[steps.agent]\ntimeout_sec = 1800.0\n',
    inner: agentKeys('steps.agent'),
  }),
  key('verifier', 'table', 'The verifier of this step; the keys of `[verifier]`.', {
    since: '1.1',
    example: '[[steps]]\nname = "design"\n[steps.verifier]\ntimeout_sec = 300.0\n',
    inner: verifierKeys('steps.verifier'),
  }),
  key(
    'min_reward',
    'number or table',
    'The reward below which the steps that follow are not run: a number, or one number for each named reward.',
    { since: '1.1', example: '[[steps]]\nname = "design"\nmin_reward = 0.5\n' },
  ),
  healthcheckDoc('steps'),
  artifacts(
    "What is carried out of the container after this step, beside the task's own artifacts.",
    '[[steps]]\nname = "design"\n',
  ),
];

/** The whole of task.toml. */
export const keyDocs: readonly KeyDoc[] = [
  key(
    'schema_version',
    'string',
    'The version of the task format that the file was written for. Harbor reads any text and never compares it.',
    { default: '"1.4"', since: '1.1', example: 'schema_version = "1.4"\n' },
  ),
  key('version', 'string', 'The name of `schema_version` in format 1.0; read only where that is absent.', {
    deprecatedBy: 'schema_version',
    example: 'version = "1.0"\n',
  }),
  key('task', 'table', 'The task as a package of a registry. Without it the folder names the task.', {
    since: '1.1',
    example: '[task]\nname = "acme/fix-the-parser"\n',
    inner: taskKeys,
  }),
  key(
    'metadata',
    'free table',
    'Anything that the author wants to say about the task; Harbor keeps it all.',
    {
      default: '{}',
      example: '[metadata]\ndifficulty = "hard"\n',
      inner: metadataKeys,
    },
  ),
  key('verifier', 'table', 'How the work is verified: `tests/test.sh`, its limits and where it runs.', {
    example: '[verifier]\nenvironment_mode = "separate"\ntimeout_sec = 900.0\n',
    inner: verifierKeys('verifier'),
  }),
  key('agent', 'table', 'The limits of whoever solves the task.', {
    example: '[agent]\ntimeout_sec = 14400.0\n',
    inner: agentKeys('agent'),
  }),
  key('environment', 'table', 'The container in which the task is solved: image, limits, network.', {
    example: '[environment]\ncpus = 2\nmemory_mb = 4096\nnetwork_mode = "no-network"\n',
    inner: environmentKeys('environment'),
  }),
  key('solution', 'table', 'The reference solution, `solution/solve.sh`.', {
    example: `[solution]\nenv = { TOKEN = "\${TOKEN:-none}" }\n`,
    inner: [
      key(
        'env',
        'text table',
        `Variables for the reference solution only. \`\${NAME}\` and \`\${NAME:-default}\` are read from the host.`,
        { default: '{}', example: '[solution.env]\nMODE = "fast"\n' },
      ),
    ],
  }),
  key(
    'source',
    'string',
    'Where the task comes from, for instance the benchmark that it was converted from.',
    {
      example: 'source = "my-benchmark"\n',
    },
  ),
  key(
    'multi_step_reward_strategy',
    'string',
    'How the rewards of `[[steps]]` become one: their mean, or the reward of the final step. Absent: the mean.',
    { values: ['mean', 'final'], since: '1.1', example: 'multi_step_reward_strategy = "final"\n' },
  ),
  key('steps', 'tables', 'A task in several steps, each with its own spec and tests below `steps/<name>/`.', {
    since: '1.1',
    example: '[[steps]]\nname = "design"\n\n[[steps]]\nname = "build"\n',
    inner: stepKeys,
  }),
  artifacts(
    "What is carried out of the agent's container: all that a separate verifier gets of the work. Stands above the first table header; `/logs/artifacts` is always taken too.",
  ),
];

/** The doc of a key; array indices are passed over, and keys of free tables get the doc of their table. */
export function findKeyDoc(path: readonly (string | number)[]): KeyDoc | undefined {
  let level: readonly KeyDoc[] | undefined = keyDocs;
  let found: KeyDoc | undefined;
  for (const part of path) {
    if (typeof part === 'number') continue;
    const next: KeyDoc | undefined = level?.find((doc) => doc.key === part);
    if (next === undefined) return isFree(found) ? found : undefined;
    found = next;
    level = next.inner;
  }
  return found;
}

/** The keys that belong into a table; undefined for one that we know nothing of. */
export function keysOfTable(path: readonly (string | number)[]): readonly KeyDoc[] | undefined {
  const names = path.filter((part) => typeof part === 'string');
  if (names.length === 0) return keyDocs;
  const doc = findKeyDoc(path);
  return doc?.key === names[names.length - 1] ? doc?.inner : undefined;
}

function isFree(doc: KeyDoc | undefined): boolean {
  return doc?.type === 'free table' || doc?.type === 'text table' || doc?.type === 'number or table';
}
