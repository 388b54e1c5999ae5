import path from 'node:path';
import { normaliseArtifacts } from './artifacts.ts';
import { readContract } from './contract.ts';
import { dockerfileWorkdir, exists, type FolderFacts, firstCrlfLine } from './folder.ts';
import { place } from './place.ts';
import { posixParts } from './python.ts';
import type { TomlScan } from './toml-scan.ts';
import type { TaskConfig, TaskProblem } from './types.ts';
import { type ShapeInput, UNSUPPORTED_SHAPES } from './unsupported.ts';
import { type ResolvedVerifier, resolveVerifier } from './verifier.ts';

/** All that is wrong or odd about the folder of a task whose task.toml Harbor accepts. */
export async function folderProblems(
  dir: string,
  input: ShapeInput,
  scan: TomlScan,
): Promise<readonly TaskProblem[]> {
  const { config, verifier, facts } = input;
  return [
    ...(await missingFiles(dir, config, verifier, facts)),
    ...imageProblems(config, verifier, facts, scan),
    ...unsupportedShapes(input, scan),
    ...(await scriptProblems(dir)),
    ...(await artifactProblems(dir, config, verifier, scan)),
    ...(await contractProblems(dir, config, scan)),
  ];
}

function fault(code: string, severity: TaskProblem['severity'], file: string, message: string): TaskProblem {
  return { code, severity, message, file };
}

const missing = (file: string, why: string): TaskProblem =>
  fault('missing-file', 'error', file, `${file} is missing: ${why}.`);

/** The files without which Harbor does not take the folder for a task (`Task.is_valid_dir`, harbor.md §1). */
async function missingFiles(
  dir: string,
  config: TaskConfig,
  verifier: ResolvedVerifier,
  facts: FolderFacts,
): Promise<readonly TaskProblem[]> {
  const out: TaskProblem[] = [];
  const script = config.environment.os === 'windows' ? 'test.bat' : 'test.sh';
  const hasScript = config.environment.os === 'windows' ? facts.testBat : facts.testSh;
  if (!facts.environment)
    out.push(missing('environment', 'every Harbor task needs that folder, even an empty one'));
  if (!config.steps?.length) {
    if (!facts.instruction) out.push(missing('instruction.md', 'it is the spec that a builder gets'));
    if (verifier.mode === 'shared' && !hasScript) {
      out.push(
        missing(`tests/${script}`, 'a shared verifier runs it; add it or declare a separate verifier'),
      );
    }
    return out;
  }
  for (const step of config.steps) {
    const folder = `steps/${step.name}`;
    if (!(await exists(dir, `${folder}/instruction.md`))) {
      out.push(missing(`${folder}/instruction.md`, `it is the spec of the step "${step.name}"`));
    }
    const own = await exists(dir, `${folder}/tests/${script}`);
    if (resolveVerifier(config, step).mode === 'shared' && !own && !hasScript) {
      out.push(missing(`${folder}/tests/${script}`, `the verifier of the step "${step.name}" runs it`));
    }
  }
  return out;
}

/** Whether there are images for the task and for its verifier (harbor.md §3.1, §4.3). */
function imageProblems(
  config: TaskConfig,
  verifier: ResolvedVerifier,
  facts: FolderFacts,
  scan: TomlScan,
): readonly TaskProblem[] {
  const out: TaskProblem[] = [];
  // Without the folder itself, that is the one thing to say.
  if (
    facts.environment &&
    !config.environment.docker_image &&
    !facts.environmentDockerfile &&
    !facts.environmentCompose
  ) {
    const message =
      'The task has no image: set [environment].docker_image or add environment/Dockerfile, else nothing can start it.';
    out.push(place('no-environment-definition', 'error', message, ['environment'], scan));
  }
  if (verifier.mode !== 'separate' || config.steps?.length) return out;
  if (verifier.environment.docker_image) {
    if (facts.testsDockerfile) {
      const message =
        'tests/Dockerfile is ignored, since the verifier has a docker_image: drop one of the two, so that it is clear where /tests comes from.';
      out.push(fault('tests-dockerfile-ignored', 'warning', 'tests/Dockerfile', message));
    }
    return out;
  }
  if (facts.testsDockerfile || facts.testsCompose) return out;
  if (!facts.testSh) {
    const message =
      'tests/test.sh is missing: the separate verifier has neither an image of its own (docker_image or tests/Dockerfile) nor a script to run.';
    out.push(fault('no-test-script', 'error', 'tests/test.sh', message));
    return out;
  }
  const message =
    "The separate verifier has no image of its own, so it is graded in the task's image with tests/ copied in; stock Harbor fails here: add tests/Dockerfile or a docker_image for it.";
  out.push(place('harbor-no-verifier-image', 'warning', message, ['verifier'], scan));
  return out;
}

function unsupportedShapes(input: ShapeInput, scan: TomlScan): readonly TaskProblem[] {
  return UNSUPPORTED_SHAPES.flatMap(({ code, find }) => {
    const found = find(input);
    if (found === undefined) return [];
    const message = `${found.what} cannot be graded here yet: grade this task with Harbor itself.`;
    return [
      found.file === undefined
        ? place(code, 'error', message, found.key ?? [], scan)
        : fault(code, 'error', found.file, message),
    ];
  });
}

/** A declared hardened grade needs both of its scripts. */
async function contractProblems(
  dir: string,
  config: TaskConfig,
  scan: TomlScan,
): Promise<readonly TaskProblem[]> {
  const read = readContract(config.metadata);
  if (read === undefined) return [];
  const table = ['metadata', 'e2e_swe_workbench'];
  if ('problem' in read) return [place('contract-invalid', 'warning', read.problem, table, scan)];
  const out: TaskProblem[] = [];
  for (const key of ['setup', 'test'] as const) {
    const file = `tests/${read.contract[key]}`;
    const message = `${file} does not exist: without it the task cannot be graded hardened.`;
    if (!(await exists(dir, file)))
      out.push(place('contract-invalid', 'warning', message, [...table, key], scan));
  }
  return out;
}

/** A script checked out with Windows line ends dies with "required file not found" (harbor.md §4.5). */
async function scriptProblems(dir: string): Promise<readonly TaskProblem[]> {
  const file = 'tests/test.sh';
  const line = await firstCrlfLine(path.join(dir, file));
  if (line === undefined) return [];
  const message =
    'tests/test.sh has Windows line endings (CR LF), with which bash cannot run it: save it with LF, or check it out with core.autocrlf off.';
  return [{ ...fault('crlf-test-script', 'warning', file, message), line, column: 1 }];
}

/** A separate verifier sees nothing of the workdir that no artifact carries over (harbor.md §4.2). */
async function artifactProblems(
  dir: string,
  config: TaskConfig,
  verifier: ResolvedVerifier,
  scan: TomlScan,
): Promise<readonly TaskProblem[]> {
  if (verifier.mode !== 'separate' || config.steps?.length) return [];
  const { workdir: declared, docker_image: image } = config.environment;
  const workdir =
    declared || (image ? undefined : await dockerfileWorkdir(path.join(dir, 'environment/Dockerfile')));
  const sources = normaliseArtifacts({ config })
    .filter((entry) => (entry.service || 'main') === 'main')
    .map((entry) => posixParts(entry.source));
  const isCovered = (parts: readonly string[]): boolean =>
    sources.some((source) => source.every((part, index) => part === parts[index]));
  const known = workdir !== undefined && posixParts(workdir).length > 0;
  if (known ? isCovered(posixParts(workdir)) : config.artifacts.length > 0) return [];
  const place_ = known
    ? `the workdir ${workdir} is not among the artifacts`
    : 'task.toml declares no artifacts';
  const message = `The separate verifier does not get the work: ${place_}; write artifacts = ["${known ? workdir : '/app'}"] above the first table header.`;
  return [place('artifacts-miss-workdir', 'warning', message, ['artifacts'], scan)];
}
