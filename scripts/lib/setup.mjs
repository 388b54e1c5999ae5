import { planBaseImage } from './baseImage.mjs';
import { planChromium } from './chromium.mjs';
import { askConsent } from './consent.mjs';
import { planEditorHost } from './editorHost.mjs';
import { planEngine } from './engine.mjs';
import { sayError, step } from './log.mjs';
import { planPodman, sshd } from './otherEngines.mjs';
import { registry } from './registry.mjs';

/** What can be set up, in the order in which it is done. */
const PLANNERS = {
  engine: planEngine,
  baseImage: planBaseImage,
  registry: registry.plan,
  sshd: sshd.plan,
  podman: planPodman,
  chromium: planChromium,
  editorHost: planEditorHost,
};

/**
 * Makes the machine ready: finds what is missing, asks once, then does it.
 *
 * @param {Iterable<string>} needs names out of `PLANNERS`.
 * @param {{ yes?: boolean, again: string }} consent
 * @returns {Promise<{ agreed: boolean, failed: Map<string, string> }>} `failed`: the needs that could not be met, and why.
 */
export async function setUp(needs, consent) {
  const wanted = new Set(needs);
  const steps = [];
  for (const [need, plan] of Object.entries(PLANNERS)) {
    const planned = wanted.has(need) ? await plan() : undefined;
    if (planned) steps.push({ need, ...planned });
  }
  const failed = new Map(steps.filter((one) => one.blocked).map((one) => [one.need, one.blocked]));
  if (failed.has('engine') && wanted.has('baseImage')) failed.set('baseImage', failed.get('engine'));
  const open = steps.filter((one) => !failed.has(one.need));
  if (open.length > 0 && !(await askConsent(open, consent))) return { agreed: false, failed };
  for (const { need, title, run } of open) {
    if (need === 'baseImage' && failed.has('engine')) {
      failed.set(need, failed.get('engine'));
      continue;
    }
    step(title);
    try {
      await run();
    } catch (error) {
      sayError(error);
      failed.set(need, error.message);
    }
  }
  return { agreed: true, failed };
}
