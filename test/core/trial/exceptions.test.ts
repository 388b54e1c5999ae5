import { expect, test } from 'vitest';
import { notGradedReasons } from '#core/grading/reasons.ts';
import { reasonsOf } from '#core/trial/exceptions.ts';

const messages = [
  '',
  'Solution script not found',
  'no environment definition',
  'artifact',
  'Environment variable X',
  'No such image',
  'failed to solve',
  'is not running',
  'cp failed',
  'timed out',
];
const types = [
  ...['VerifierTimeoutError', 'RewardFileNotFoundError', 'RewardFileEmptyError', 'VerifierOutputParseError'],
  ...['ValidationError', 'EnvironmentStartTimeoutError', 'HealthcheckError', 'SandboxBuildFailedError'],
  ...['AddTestsDirError', 'FileNotFoundError', 'RegradeError', 'ValueError', 'RuntimeError'],
  ...['CancelledError', 'AgentSetupTimeoutError', 'SomethingElse'],
];
/** What a grade of ours cannot end in. */
const onlyHarbors = ['agent-failed', 'cancelled', 'harbor-failed'];

test('every reason is one of a grade, or one that only Harbor has', () => {
  const known = [...Object.keys(notGradedReasons), ...onlyHarbors];
  for (const type of types)
    for (const message of messages)
      for (const reason of reasonsOf({ type, message })) expect(known).toContain(reason);
});
