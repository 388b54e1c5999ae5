import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { conditionsScheme } from '#vscode/baseline/conditionsDocument.ts';
import { rowContexts } from '#vscode/baseline/rows.ts';
import { commandIds } from '#vscode/commands/commandIds.ts';
import { contextKeyNames } from '#vscode/contextKeys.ts';
import { gradeScheme } from '#vscode/documents/gradeLog.ts';
import { specScheme } from '#vscode/documents/specDocument.ts';
import { allSettings } from '#vscode/settings/allSettings.ts';
import { snapshotScheme } from '#vscode/snapshots/snapshotUri.ts';
import { controllerId } from '#vscode/testing/testIds.ts';
import { contextValues } from '#vscode/tree/renderNode.ts';
import { workspaceScheme } from '#vscode/workspace/attemptUri.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Clause {
  readonly when?: string;
}

interface Manifest {
  readonly activationEvents: readonly string[];
  readonly capabilities: {
    readonly untrustedWorkspaces: { readonly restrictedConfigurations: readonly string[] };
  };
  readonly contributes: {
    readonly commands: readonly {
      readonly command: string;
      readonly title: string;
      readonly category: string;
      readonly icon: string;
    }[];
    readonly configuration: {
      readonly properties: Readonly<Record<string, { readonly default: unknown; readonly scope: string }>>;
    };
    readonly menus: Readonly<Record<string, readonly (Clause & { readonly command: string })[]>>;
    readonly views: Readonly<
      Record<string, readonly (Clause & { readonly id: string; readonly icon: string })[]>
    >;
    readonly viewsContainers: {
      readonly activitybar: readonly { readonly id: string; readonly icon: string }[];
    };
    readonly viewsWelcome: readonly (Clause & { readonly view: string; readonly contents: string })[];
    readonly walkthroughs: readonly {
      readonly steps: readonly {
        readonly media: Readonly<Record<string, string>>;
        readonly completionEvents: readonly string[];
      }[];
    }[];
  };
}

const text = readFileSync(`${root}package.json`, 'utf8');
const manifest: Manifest = JSON.parse(text);
const nls: Readonly<Record<string, string>> = JSON.parse(readFileSync(`${root}package.nls.json`, 'utf8'));
const { contributes } = manifest;
const viewIds = Object.values(contributes.views).flatMap((views) => views.map((view) => view.id));

test('the manifest has the commands of the code, in its order, each with category, title and icon', () => {
  expect(contributes.commands.map(({ command }) => command)).toEqual([...commandIds]);
  for (const { command, title, category, icon } of contributes.commands) {
    expect(category).toBe('E2E-SWE');
    expect(title).toBe(`%command.${command.replace('e2eSwe.', '')}.title%`);
    expect(icon).toMatch(/^\$\([a-z-]+\)$/);
  }
});

test('every text of the manifest is in package.nls.json, and nothing else is', () => {
  const used = new Set([...text.matchAll(/"%([\w.]+)%"/g)].map((match) => match[1]));
  expect([...used].sort()).toEqual(Object.keys(nls).sort());
});

test('command links name commands that exist', () => {
  for (const [key, value] of Object.entries(nls)) {
    for (const [, id] of value.matchAll(/command:(e2eSwe\.[\w.]+)/g)) {
      const known = [...commandIds, ...viewIds.map((view) => `${view}.focus`)];
      expect(known, key).toContain(id);
    }
  }
});

test('settings and their defaults are those of the code', () => {
  const inManifest = Object.entries(contributes.configuration.properties).map(([key, value]) => [
    key,
    value.default,
  ]);
  expect(inManifest).toEqual(allSettings.map(({ key, defaultValue }) => [key, defaultValue]));
});

test('settings that name sockets or folders to write to belong to the machine', () => {
  const { properties } = contributes.configuration;
  expect(properties['e2eSwe.dockerHost']?.scope).toBe('machine');
  expect(properties['e2eSwe.storeFolder']?.scope).toBe('machine');
  for (const key of manifest.capabilities.untrustedWorkspaces.restrictedConfigurations) {
    expect(Object.keys(properties)).toContain(key);
  }
});

test('when clauses name views, context keys and rows that exist', () => {
  const clauses = [
    ...Object.values(contributes.menus).flat(),
    ...Object.values(contributes.views).flat(),
    ...contributes.viewsWelcome,
  ].flatMap(({ when }) => when ?? []);
  expect(clauses.length).toBeGreaterThan(15);
  for (const clause of clauses) for (const part of clause.split(' && ')) checkPart(part);
});

function checkPart(part: string): void {
  const [, key, operator, value] = /^([\w.]+)(?: (==|!=|=~) (.+))?$/.exec(part) ?? [];
  switch (key) {
    case 'view':
      expect([...viewIds, 'workbench.panel.markers.view']).toContain(value);
      break;
    case 'controllerId':
      expect(value).toBe(controllerId);
      break;
    case 'viewItem': {
      const pattern = operator === '=~' ? new RegExp(value?.slice(1, -1) ?? '') : undefined;
      const matches = [...contextValues, ...rowContexts].filter((row) =>
        pattern ? pattern.test(row) : row === value,
      );
      expect(matches, part).not.toEqual([]);
      break;
    }
    default:
      expect(contextKeyNames).toContain(key);
  }
}

test('menus and welcome views name commands and views that exist', () => {
  for (const { command } of Object.values(contributes.menus).flat()) expect(commandIds).toContain(command);
  for (const { view } of contributes.viewsWelcome) expect(viewIds).toContain(view);
});

test('pictures exist, and the walkthrough ends each step by something that happens', () => {
  const icons = [
    ...contributes.viewsContainers.activitybar.map(({ icon }) => icon),
    ...Object.values(contributes.views).flatMap((views) => views.map(({ icon }) => icon)),
  ];
  const steps = contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
  const media = steps.flatMap((step) =>
    [step.media.svg, step.media.markdown].filter((file) => file !== undefined),
  );
  expect(media).toHaveLength(steps.length);
  for (const file of [...icons, ...media]) expect(existsSync(root + file), file).toBe(true);
  for (const event of steps.flatMap((step) => step.completionEvents)) {
    const [, id] = event.split(':');
    expect([...commandIds, ...viewIds]).toContain(id);
  }
});

test('editors of our own documents wake the extension', () => {
  expect([...manifest.activationEvents].sort()).toEqual(
    [specScheme, gradeScheme, conditionsScheme, snapshotScheme, workspaceScheme]
      .map((scheme) => `onFileSystem:${scheme}`)
      .sort(),
  );
});
