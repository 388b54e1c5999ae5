import { defineSetting } from './settingValue.ts';

/** Whether the tasks that come with the extension are listed. */
export const showBundledTasksSetting = defineSetting('e2eSwe.showBundledTasks', true, (value) =>
  typeof value === 'boolean' ? value : undefined,
);
