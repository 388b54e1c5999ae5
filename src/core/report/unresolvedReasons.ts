/** Why a grade is `unresolved`. */
export type UnresolvedReason =
  | 'setup-failed'
  | 'other-tests'
  | 'build-failed'
  | 'tests-failed'
  | 'tests-skipped'
  | 'tests-not-reported'
  | 'too-many-tests'
  | 'no-tests-ran'
  | 'report-missing'
  | 'report-unreadable'
  | 'reward-disagrees'
  | 'reward-not-1';

/** Each reason in words and what to do next: one sentence each; the numbers are in the grade's counts. */
export const unresolvedReasons: Readonly<
  Record<UnresolvedReason, { readonly text: string; readonly nextStep: string }>
> = {
  'setup-failed': {
    text: "The submission's setup.sh failed.",
    nextStep: 'Open the output and repair setup.sh.',
  },
  'other-tests': {
    text: "The report lists other tests than the reference solution's.",
    nextStep: 'Compare the list of tests with that of a grade of the solution.',
  },
  'build-failed': {
    text: 'The submission did not build, so no hidden test ran.',
    nextStep: 'Read the message of the one reported entry and repair the build.',
  },
  'tests-failed': {
    text: 'At least one hidden test failed.',
    nextStep: 'Open the failed tests.',
  },
  'tests-skipped': {
    text: 'No hidden test failed, but at least one was skipped, is pending or has another state; every one has to pass.',
    nextStep: 'Open the tests that did not pass.',
  },
  'tests-not-reported': {
    text: 'Every reported test passed, but fewer tests were reported than the task has.',
    nextStep: 'Look in the output for a test file that did not load or a run that ended early.',
  },
  'too-many-tests': {
    text: 'More tests passed than the task has.',
    nextStep:
      "Compare the report with the task's test_case_count: tests were added, repeated or counted wrongly.",
  },
  'no-tests-ran': {
    text: 'The report lists no test.',
    nextStep: 'Look in the output for an import or configuration error.',
  },
  'report-missing': {
    text: "The verifier wrote no test report, so the task's number of tests cannot be confirmed.",
    nextStep: 'Look in the output for the reason why the tests did not run.',
  },
  'report-unreadable': {
    text: "The verifier's test report cannot be read, so the task's number of tests cannot be confirmed.",
    nextStep: 'Open the report file in the folder of the grade.',
  },
  'reward-disagrees': {
    text: 'Every reported test passed, but the verifier did not give the reward 1.',
    nextStep: 'Look in the output for a failure that the report does not show.',
  },
  'reward-not-1': {
    text: 'The verifier did not give the reward 1.',
    nextStep: "Open the output of the verifier's script.",
  },
};
