import { defineSetting } from './settingValue.ts';

/** Tasks that declare how are graded hardened; the others as Harbor grades them. */
export const hardenedVerifierSetting = defineSetting('e2eSwe.hardenedVerifier', false, (value) =>
  typeof value === 'boolean' ? value : undefined,
);
