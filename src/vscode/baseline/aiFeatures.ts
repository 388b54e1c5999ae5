import * as vscode from 'vscode';
import { noAiSettings } from '#core/attempt/aiPolicy.ts';
import type { RecordEvent } from '#core/attempt/recordEvents.ts';
import { parseAttemptUri } from '#vscode/workspace/attemptUri.ts';
import { editorFolder } from '#vscode/workspace/editorFolder.ts';

/** Checked in every VS Code; the others where it, or an extension, has them. */
const required: readonly string[] = ['chat.disableAIFeatures', 'editor.inlineSuggest.enabled'];

/** Lower-cased. None is complete: what is not here is in the record with all other extensions. */
const aiExtensions = new Set([
  ...['github.copilot', 'github.copilot-chat', 'visualstudioexptteam.vscodeintellicode'],
  ...[
    'anthropic.claude-code',
    'openai.chatgpt',
    'google.geminicodeassist',
    'google.gemini-cli-vscode-ide-companion',
  ],
  ...['amazonwebservices.amazon-q-vscode', 'amazonwebservices.aws-toolkit-vscode', 'codeium.codeium'],
  ...['continue.continue', 'saoudrizwan.claude-dev', 'rooveterinaryinc.roo-cline', 'kilocode.kilo-code'],
  ...['tabnine.tabnine-vscode', 'sourcegraph.cody-ai', 'sourcegraph.amp', 'supermaven.supermaven'],
  ...['augment.vscode-augment', 'blackboxapp.blackbox', 'blackboxapp.blackboxagent', 'codium.codium'],
  ...['bito.bito', 'sourcery.sourcery', 'mistralai.mistral-code', 'gitlab.gitlab-workflow'],
  ...[
    'danielsanmedium.dscodegpt',
    'genieai.chatgpt-vscode',
    'fauxpilot.fauxpilot',
    'huggingface.huggingface-vscode',
  ],
  ...['ms-windows-ai-studio.windows-ai-studio', 'jetbrains.jetbrains-ai-assistant', 'zencoderai.zencoder'],
  ...[
    'factory.factory-vscode-extension',
    'block.vscode-goose',
    'sst-dev.opencode',
    'alibaba-cloud.tongyi-lingma',
  ],
]);

/** The path of VS Code's workspace settings, below the workdir. */
const settingsPath = `${editorFolder}/settings.json`;

/**
 * The workspace settings of an attempt without AI, which are of its window alone: they are served beside the container's
 * files, never written into them, and can be changed neither in there nor in the editor.
 */
export function aiSettings(): string {
  const why = '// By the conditions of this attempt no AI may help. These settings are of its window alone.';
  return `${why}\n${JSON.stringify(noAiSettings, undefined, 2)}\n`;
}

export function isSettingsFile(uri: vscode.Uri): boolean {
  return parseAttemptUri(uri)?.path === settingsPath;
}

export type AiOutcome = Omit<RecordEvent & { readonly kind: 'ai-features' }, 'kind'>;

/** How the window is with regard to AI, as VS Code says. */
export function readAiOutcome(): AiOutcome {
  const off: string[] = [];
  const on: string[] = [];
  for (const [key, value] of Object.entries(noAiSettings)) {
    const [, section = '', name = ''] = /^(chat|editor|github\.copilot)\.(.+)$/.exec(key) ?? [];
    const configuration = vscode.workspace.getConfiguration(section);
    const isKnown = configuration.inspect(name)?.defaultValue !== undefined;
    if (!isKnown && !required.includes(key)) continue;
    if (!isKnown) on.push(`${key} (this VS Code does not have it)`);
    else if (holds(configuration.get(name), value)) off.push(key);
    else on.push(key);
    const { languageIds = [] } = configuration.inspect(name) ?? {};
    for (const languageId of languageIds) {
      const ofLanguage = vscode.workspace.getConfiguration(section, { languageId }).get(name);
      if (!holds(ofLanguage, value)) on.push(`${key} (for ${languageId})`);
    }
  }
  return { off, on, extensions: installedAiExtensions() };
}

/** A value per language is merged from all settings: none of them may be on. */
function holds(actual: unknown, wanted: unknown): boolean {
  if (typeof actual !== 'object' || actual === null) return actual === wanted;
  return Object.values(actual).every((value) => value === false);
}

function installedAiExtensions(): string[] {
  return vscode.extensions.all.map(({ id }) => id).filter((id) => aiExtensions.has(id.toLowerCase()));
}

const settleMs = 5_000;

/** Waits until the settings of the window are read, which VS Code does after the folder's files can be. */
export async function awaitAiOutcome(waitMs = settleMs): Promise<AiOutcome> {
  const outcome = readAiOutcome();
  if (outcome.on.length === 0) return outcome;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    const listening = vscode.workspace.onDidChangeConfiguration(() => {
      if (readAiOutcome().on.length > 0) return;
      clearTimeout(timer);
      listening.dispose();
      resolve();
    });
    setTimeout(() => listening.dispose(), waitMs);
  });
  return readAiOutcome();
}

/** "AI features are off in this window." or what is not, for people. */
export function aiSentence({ on, extensions }: AiOutcome): string {
  const isOff =
    on.length === 0
      ? 'The AI features of VS Code are off in this window.'
      : `Not all AI features are off in this window: ${on.join(', ')}. Switch them off yourself.`;
  if (extensions.length === 0) return isOff;
  return `${isOff} Disable these extensions, which bring AI of their own: ${extensions.join(', ')}.`;
}
