/** Every command of the extension; a test compares the list with the manifest. */
export const commandIds = [
  'e2eSwe.refresh',
  'e2eSwe.addCorpus',
  'e2eSwe.removeCorpus',
  'e2eSwe.openSpec',
  'e2eSwe.grade',
  'e2eSwe.gradeSolution',
  'e2eSwe.gradeEmpty',
  'e2eSwe.gradeAndKeep',
  'e2eSwe.cancelGrade',
  'e2eSwe.openGrade',
  'e2eSwe.openGradeLog',
  'e2eSwe.openGradeFolder',
  'e2eSwe.harborCheck',
  'e2eSwe.openGradeShell',
  'e2eSwe.removeKeptContainer',
  'e2eSwe.deleteGrade',
  'e2eSwe.startAttempt',
  'e2eSwe.openAttempt',
  'e2eSwe.deleteAttempt',
  'e2eSwe.exportAttempt',
  'e2eSwe.exportSummary',
  'e2eSwe.importTrials',
  'e2eSwe.removeImport',
  'e2eSwe.cleanUpWorkspaces',
  'e2eSwe.workspaceMenu',
  'e2eSwe.openWorkspaceSpec',
  'e2eSwe.openTerminal',
  'e2eSwe.searchWorkspace',
  'e2eSwe.clearSearch',
  'e2eSwe.goToFile',
  'e2eSwe.trySetup',
  'e2eSwe.gradeAttempt',
  'e2eSwe.keepWorking',
  'e2eSwe.openAttemptGrade',
  'e2eSwe.clearProblems',
  'e2eSwe.submitAttempt',
  'e2eSwe.giveUpAttempt',
  'e2eSwe.startClock',
  'e2eSwe.showConditions',
  'e2eSwe.fillInDebrief',
  'e2eSwe.pauseAttempt',
  'e2eSwe.resumeAttempt',
  'e2eSwe.addNote',
  'e2eSwe.snapshots',
  'e2eSwe.scoreCurve',
  'e2eSwe.attachWindow',
  'e2eSwe.checkBridges',
  'e2eSwe.closeWorkspace',
  'e2eSwe.checkEngine',
  'e2eSwe.chooseEngine',
  'e2eSwe.openSettings',
  'e2eSwe.showLog',
] as const;

export type CommandId = (typeof commandIds)[number];

/**
 * What a command does. Menus, links and key bindings hand over whatever they have, or nothing, so each command
 * looks at its argument itself and asks when that does not help.
 */
export type CommandHandler = (argument?: unknown) => unknown;

/** One handler a command: a missing one does not compile. */
export type CommandHandlers = Readonly<Record<CommandId, CommandHandler>>;
