import { defineSetting, trimmedString } from './settingValue.ts';

/** Where grades are kept; empty means the extension's global storage. */
export const storeFolderSetting = defineSetting('e2eSwe.storeFolder', '', trimmedString);
