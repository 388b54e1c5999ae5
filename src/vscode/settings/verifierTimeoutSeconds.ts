import { defineSetting } from './settingValue.ts';

/** Seconds after which a verifier is stopped; 0 means the task's own limit. */
export const verifierTimeoutSetting = defineSetting('e2eSwe.verifierTimeoutSeconds', 0, (value) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined,
);
