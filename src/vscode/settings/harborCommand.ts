import { defineSetting, trimmedString } from './settingValue.ts';

/** The `harbor` command that grades are compared with; empty means the one on the PATH. */
export const harborCommandSetting = defineSetting('e2eSwe.harborCommand', '', trimmedString);
