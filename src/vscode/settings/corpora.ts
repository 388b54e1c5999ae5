import { defineSetting } from './settingValue.ts';

/** Folders of tasks that the person added. */
export const corporaSetting = defineSetting<readonly string[]>('e2eSwe.corpora', [], (value) =>
  Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string' && item.trim() !== '')
    : undefined,
);
