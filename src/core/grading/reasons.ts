import type { EngineError, EngineFailure } from '#core/container/engine.ts';
import type { Cause } from './types.ts';

/** Why a grade could not be made: never a zero (design.md §4.7). A closed list; each says whose it is and what to do. */
export const notGradedReasons = {
  'engine-unavailable': {
    cause: 'engine',
    text: 'No container engine answers.',
    nextStep: 'Start Docker, or set its address, and grade again.',
  },
  'engine-lost': {
    cause: 'engine',
    text: 'The container engine went away during the grade.',
    nextStep: 'See that the engine is up and grade again.',
  },
  'engine-failed': {
    cause: 'engine',
    text: 'The container engine refused a step of the grade.',
    nextStep: 'Read the log for its answer, then grade again.',
  },
  'disk-full': {
    cause: 'engine',
    text: 'A disk is full.',
    nextStep: 'Free some space (for instance "docker system prune") and grade again.',
  },
  'image-missing': {
    cause: 'engine',
    text: "The task's image is not on this machine and cannot be pulled.",
    nextStep: 'Go online or load the image into the engine, then grade again.',
  },
  'image-build-failed': {
    cause: 'task',
    text: "The task's image cannot be built.",
    nextStep:
      'Read the build output in the log and mend the Dockerfile, or go online if it fetches something.',
  },
  'image-platform': {
    cause: 'engine',
    text: "The task's image does not fit this engine.",
    nextStep:
      "Use an engine of the image's platform, or set up emulation of it (binfmt_misc) on the engine's host.",
  },
  'container-start-failed': {
    cause: 'task',
    text: 'The grade container does not start.',
    nextStep: "Look at the image's ENTRYPOINT and at the limits in task.toml.",
  },
  'task-unsupported': {
    cause: 'task',
    text: 'This kind of task cannot be graded here yet.',
    nextStep: "Read the task's problems for what is not supported.",
  },
  'task-invalid': {
    cause: 'task',
    text: 'The task folder is not complete.',
    nextStep: "Mend what the task's problems list, then grade again.",
  },
  'test-script-missing': {
    cause: 'task',
    text: 'There is no /tests/test.sh in the grade container.',
    nextStep: 'Add tests/test.sh to the task, or bake it into the image of the verifier.',
  },
  'bash-missing': {
    cause: 'task',
    text: "The verifier's image has no bash, and test.sh is run by bash.",
    nextStep: "Install bash in the image's Dockerfile and grade again.",
  },
  'test-script-crlf': {
    cause: 'task',
    text: 'tests/test.sh has Windows line endings, so Linux cannot run it.',
    nextStep: 'Convert tests/test.sh to LF line endings and grade again.',
  },
  'verifier-env-missing': {
    cause: 'task',
    text: 'The task wants a host variable that is not set.',
    nextStep: 'Set the variable in the environment, or give it a default in task.toml.',
  },
  'host-env-denied': {
    cause: 'task',
    text: 'The task wants host variables that it was not allowed to read.',
    nextStep: 'Allow them when asked (in the command line with --allow-host-env), if you trust the task.',
  },
  'solution-missing': {
    cause: 'task',
    text: 'The task has no solution/solve.sh.',
    nextStep: 'Grade a folder instead, or add the reference solution.',
  },
  'submission-unreadable': {
    cause: 'submission',
    text: 'The submission cannot be read.',
    nextStep: 'See that every file can be read, then grade again.',
  },
  'submission-changed': {
    cause: 'submission',
    text: 'A file changed while the submission was taken.',
    nextStep: 'Stop what writes to the folder and grade again.',
  },
  'submission-refused': {
    cause: 'submission',
    text: 'The submission holds an entry that is refused.',
    nextStep: 'Remove the entry that is named and grade again.',
  },
  'artifact-missing': {
    cause: 'submission',
    text: 'A declared artifact is not in the submission.',
    nextStep: 'Make the artifact that task.toml declares, then grade again.',
  },
  'copy-incomplete': {
    cause: 'engine',
    text: 'The submission did not arrive whole in the grade container.',
    nextStep: 'Grade again; the differing paths are in the evidence.',
  },
  'healthcheck-failed': {
    cause: 'task',
    text: "The task's healthcheck did not succeed.",
    nextStep: 'Run the [environment.healthcheck] command in the container, or mend it.',
  },
  'verifier-timeout': {
    cause: 'unknown',
    text: 'The tests did not end in time.',
    nextStep:
      'Read the last lines of test-stdout.txt; give more time with --timeout or e2eSwe.verifierTimeoutSeconds.',
  },
  'verifier-out-of-memory': {
    cause: 'unknown',
    text: 'The tests ran out of memory.',
    nextStep: 'Compare the memory limit in the evidence with what the tests need.',
  },
  'verifier-killed': {
    cause: 'unknown',
    text: 'The grade container ended before the tests did.',
    nextStep: 'Read test-stdout.txt in the grade folder.',
  },
  'verifier-needs-network': {
    // What a submission prints can look the same; a resolved grade of the solution shows that it was not the task.
    cause: 'unknown',
    text: 'The verifier needs the network, and grades run without one.',
    nextStep: "Bake what test.sh fetches into the task's image, then grade again.",
  },
  'reward-missing': {
    cause: 'unknown',
    text: 'The tests ended without writing a reward.',
    nextStep: 'Read test-stdout.txt in the grade folder.',
  },
  'reward-unreadable': {
    cause: 'unknown',
    text: 'The reward that the tests wrote cannot be read.',
    nextStep: "Read the reward file in the grade folder's verifier folder.",
  },
} as const satisfies Readonly<
  Record<string, { readonly cause: Cause; readonly text: string; readonly nextStep: string }>
>;

export type NotGradedReason = keyof typeof notGradedReasons;

/** Thrown inside the pipeline to end a grade as `not graded`. */
export class NotGradedError extends Error {
  override readonly name = 'NotGradedError';
  readonly reason: NotGradedReason;
  readonly nextStep: string | undefined;

  constructor(
    reason: NotGradedReason,
    message?: string,
    options: { readonly cause?: unknown; readonly nextStep?: string } = {},
  ) {
    super(
      message ?? notGradedReasons[reason].text,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.reason = reason;
    this.nextStep = options.nextStep;
  }
}

const byFailure: Readonly<Record<EngineFailure, NotGradedReason>> = {
  unreachable: 'engine-unavailable',
  lost: 'engine-lost',
  'image-missing': 'image-missing',
  'pull-failed': 'image-missing',
  'build-failed': 'image-build-failed',
  'disk-full': 'disk-full',
  'not-found': 'engine-failed',
  'start-failed': 'container-start-failed',
  refused: 'engine-failed',
  'exec-failed': 'engine-failed',
  other: 'engine-failed',
};

/** The reason of an engine's failure. */
export function reasonOf(error: EngineError): NotGradedReason {
  if (error.failure === 'refused' && /^The image .* is for /.test(error.message)) return 'image-platform';
  return byFailure[error.failure];
}
