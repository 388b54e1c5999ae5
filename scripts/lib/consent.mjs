import { createInterface } from 'node:readline/promises';
import { say } from './log.mjs';

/** True where the user agreed beforehand: `--yes`, `npm test --yes` (which npm keeps to itself), or a CI machine. */
function agreedBeforehand(yes, env = process.env) {
  return Boolean(yes) || env.npm_config_yes === 'true' || env.CI === 'true';
}

/**
 * Asks once for everything that is to be changed on this machine.
 *
 * @param {{ title: string, commands: string[] }[]} steps
 * @param {{ yes?: boolean, again: string }} options `again` is the command that gives consent, for the message.
 */
export async function askConsent(steps, { yes, again }) {
  if (agreedBeforehand(yes)) return true;
  say('This machine lacks something that is needed. These steps would be run:');
  for (const { title, commands } of steps) {
    say(`\n  ${title}`);
    for (const command of commands) say(`    ${command}`);
  }
  say();
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    say(`Nothing was changed. To have them run for you: ${again}`);
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const answer = await terminal.question('Run them now? [y/N] ');
  terminal.close();
  const agreed = /^y(es)?$/i.test(answer.trim());
  if (!agreed) say('Nothing was changed.');
  return agreed;
}
