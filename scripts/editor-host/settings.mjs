/** User settings for a quiet editor: nothing fetched, suggested, measured or animated. */
export const QUIET_SETTINGS = {
  'chat.agentHost.enabled': false,
  'chat.disableAIFeatures': true,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
  'github.gitAuthentication': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'workbench.editor.useModal': 'off',
  'workbench.enableExperiments': false,
  'workbench.reduceMotion': 'on',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  // The workbench is drawn without a GPU.
  'terminal.integrated.gpuAcceleration': 'off',
};
