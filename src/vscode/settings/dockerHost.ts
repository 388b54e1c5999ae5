import { defineSetting, trimmedString } from './settingValue.ts';

/** Address of the engine; empty means `DOCKER_HOST`, else the default socket. */
export const dockerHostSetting = defineSetting('e2eSwe.dockerHost', '', trimmedString);
