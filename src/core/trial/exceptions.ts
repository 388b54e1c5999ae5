/** Harbor's classes of exception and our reasons (harbor.md §4.7). */

/** An exception as a trial records it. */
export interface TrialException {
  readonly type: string;
  readonly message: string;
}

interface Rule {
  readonly type: RegExp;
  readonly message?: RegExp;
  /** Our reason, the one that names it best first; the others end in the same exception on Harbor's side. */
  readonly reasons: readonly [string, ...string[]];
}

/** First match wins. Reasons are those of core/grading, but for `agent-failed`, `cancelled` and `harbor-failed`. */
const rules: readonly Rule[] = [
  { type: /^VerifierTimeoutError$/, reasons: ['verifier-timeout', 'image-build-failed'] },
  {
    type: /^RewardFileNotFoundError$/,
    reasons: [
      'reward-missing',
      'test-script-missing',
      'test-script-crlf',
      'verifier-needs-network',
      'verifier-out-of-memory',
      'verifier-killed',
    ],
  },
  {
    type: /^(?:RewardFileEmptyError|VerifierOutputParseError|ValidationError|RecursionError|JSONDecodeError)$/,
    reasons: ['reward-unreadable'],
  },
  { type: /^HealthcheckError$/, reasons: ['healthcheck-failed'] },
  {
    type: /^EnvironmentStartTimeoutError$/,
    reasons: ['container-start-failed', 'image-build-failed'],
  },
  { type: /^SandboxBuildFailedError$/, reasons: ['image-build-failed'] },
  {
    type: /^(?:AddTestsDirError|DownloadVerifierDirError)$/,
    reasons: ['copy-incomplete', 'test-script-missing'],
  },
  { type: /^FileNotFoundError$/, message: /Solution script/, reasons: ['solution-missing'] },
  { type: /^FileNotFoundError$/, message: /environment definition/, reasons: ['task-invalid'] },
  { type: /^FileNotFoundError$/, reasons: ['test-script-missing', 'task-invalid'] },
  { type: /^RegradeError$/, message: /collect|artifact/, reasons: ['artifact-missing'] },
  { type: /^RegradeError$/, reasons: ['task-unsupported'] },
  {
    type: /^ValueError$/,
    message: /^Environment variable/,
    reasons: ['verifier-env-missing', 'host-env-denied'],
  },
  {
    type: /^RuntimeError$/,
    message:
      /pull access denied|manifest unknown|No such image|not found: manifest|failed to resolve reference|lookup registry/i,
    reasons: ['image-missing'],
  },
  {
    type: /^RuntimeError$/,
    message: /failed to (?:solve|build)|executor failed/i,
    reasons: ['image-build-failed'],
  },
  {
    type: /^RuntimeError$/,
    message: /is not running|exited|unhealthy|Range of CPUs|Minimum memory/i,
    reasons: ['container-start-failed', 'verifier-killed', 'verifier-out-of-memory'],
  },
  {
    type: /^RuntimeError$/,
    message: /cp failed|tar upload/i,
    reasons: ['copy-incomplete', 'submission-unreadable'],
  },
  { type: /^RuntimeError$/, message: /timed out/i, reasons: ['verifier-timeout'] },
  { type: /^(?:CancelledError|KeyboardInterrupt)$/, reasons: ['cancelled'] },
  { type: /^(?:Agent|NonZeroAgent|Api|ContextWindow|Model)/, reasons: ['agent-failed'] },
  { type: /./, reasons: ['harbor-failed', 'engine-failed', 'container-start-failed'] },
];

/** Our reasons that end in this exception on Harbor's side, the best name first. */
export function reasonsOf({ type, message }: TrialException): readonly [string, ...string[]] {
  const rule = rules.find((one) => one.type.test(type) && (one.message?.test(message) ?? true));
  return rule?.reasons ?? ['harbor-failed'];
}

/** The class by which Harbor would record a grade that was not made for one of our reasons. */
export function exceptionTypeOf(reason: string): string {
  const rule =
    rules.find(({ reasons }) => reasons[0] === reason) ??
    rules.find(({ reasons }) => reasons.includes(reason));
  return /[A-Z]\w*Error/.exec(rule?.type.source ?? '')?.[0] ?? 'RuntimeError';
}

/** After these Harbor grades all the same (harbor.md §0 step 4). */
export function isGradedAllTheSame(type: string): boolean {
  return /^(?:AgentTimeoutError|NonZeroAgentExitCodeError|Api.*Error|ContextWindowExceededError|AgentAuthenticationError|ModelNotFoundError)$/.test(
    type,
  );
}
