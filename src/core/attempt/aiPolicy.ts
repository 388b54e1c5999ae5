/**
 * Settings that VS Code and Copilot document for a window without AI; in the settings of a workspace they are of its
 * window alone.
 */
export const noAiSettings = {
  'chat.disableAIFeatures': true,
  'editor.inlineSuggest.enabled': false,
  'chat.agent.enabled': false,
  'github.copilot.enable': { '*': false },
  'github.copilot.nextEditSuggestions.enabled': false,
} as const;
