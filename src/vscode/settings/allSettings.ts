import { corporaSetting } from './corpora.ts';
import { dockerHostSetting } from './dockerHost.ts';
import { harborCommandSetting } from './harborCommand.ts';
import { hardenedVerifierSetting } from './hardenedVerifier.ts';
import type { Setting } from './settingValue.ts';
import { showBundledTasksSetting } from './showBundledTasks.ts';
import { storeFolderSetting } from './storeFolder.ts';
import { verifierTimeoutSetting } from './verifierTimeoutSeconds.ts';

/** Every setting, for the test that compares keys and defaults with the manifest. */
export const allSettings: readonly Pick<Setting<unknown>, 'key' | 'defaultValue'>[] = [
  corporaSetting,
  showBundledTasksSetting,
  dockerHostSetting,
  storeFolderSetting,
  verifierTimeoutSetting,
  harborCommandSetting,
  hardenedVerifierSetting,
];
