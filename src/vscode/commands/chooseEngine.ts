import * as vscode from 'vscode';
import { CancelledError } from '#core/base/errors.ts';
import type { EngineChoice } from '#core/container/connect.ts';
import { memoryLabel } from '#vscode/engine/engineStatus.ts';
import { dockerHostSetting } from '#vscode/settings/dockerHost.ts';
import type { CommandHandler } from './commandIds.ts';

export interface ChooseEngineDeps {
  /** Asks every place where an engine may answer. */
  readonly listEngines: () => Promise<readonly EngineChoice[]>;
  /** Connects by the new setting and says what answers. */
  readonly checkEngine: CommandHandler;
}

interface EngineItem extends vscode.QuickPickItem {
  /** The setting's value for it; undefined for a heading. */
  readonly setting?: string;
}

/** Shows every engine with its version, or why it does not answer; the one that is picked becomes the setting. */
export function chooseEngine({ listEngines, checkEngine }: ChooseEngineDeps): CommandHandler {
  return async () => {
    const picked = await vscode.window.showQuickPick<EngineItem>(listEngines().then(engineItems), {
      title: 'Choose container engine',
      placeHolder: 'Choose where grades and workspaces run',
      matchOnDescription: true,
      matchOnDetail: true,
    });
    if (picked?.setting === undefined) throw new CancelledError();
    await dockerHostSetting.update(picked.setting);
    await checkEngine();
  };
}

export function engineItems(choices: readonly EngineChoice[]): EngineItem[] {
  const heading = (label: string): EngineItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const answering = choices.filter(({ info }) => info);
  const silent = choices.filter(({ info }) => !info);
  return [
    ...(answering.length > 0 ? [heading('Answering'), ...answering.map(engineItem)] : []),
    heading('Without a choice'),
    {
      label: '$(wand) Find one automatically',
      detail:
        "DOCKER_HOST, else the docker command's context, else the first that answers at the usual places",
      setting: '',
    },
    ...(silent.length > 0 ? [heading('Not answering'), ...silent.map(engineItem)] : []),
  ];
}

function engineItem({ name, address, setting, info, inUse, problem, nextStep }: EngineChoice): EngineItem {
  const icon = info ? (inUse ? '$(check)' : '$(vm-running)') : inUse ? '$(error)' : '$(circle-slash)';
  if (!info)
    return {
      label: `${icon} ${name}`,
      description: address,
      detail: [inUse ? 'Chosen' : '', problem, nextStep].filter(Boolean).join(' · '),
      setting,
    };
  const facts = [
    ...(inUse ? ['In use'] : []),
    ...[name, `${info.os}/${info.arch}`, `${info.cpus} CPUs`, `${memoryLabel(info)} memory`],
    ...(info.rootless ? ['rootless'] : []),
    ...(info.unenforced.length > 0 ? [`cannot limit ${info.unenforced.join(', ')}`] : []),
  ];
  return {
    label: `${icon} ${info.product} ${info.version}`,
    description: address,
    detail: facts.join(' · '),
    setting,
  };
}
