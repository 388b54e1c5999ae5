import { defineSetting, trimmedString } from './settingValue.ts';

/** Address of the engine, or `context:NAME`; empty means what the docker command would use, else the usual places. */
export const dockerHostSetting = defineSetting('e2eSwe.dockerHost', '', trimmedString);
