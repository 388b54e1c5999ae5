import { runOrFail } from './run.mjs';

/** The command that runs npm: the one that runs us, else the one on the PATH. */
export function npmCommand(env = process.env) {
  return env.npm_execpath?.endsWith('.js') ? [process.execPath, env.npm_execpath] : ['npm'];
}

/** The environment without what an outer `npm run` says about its own package. */
export function npmEnv(env = process.env) {
  const own = /^(npm_(package|lifecycle)_|npm_config_(local_prefix|global_prefix|yes|only)$|INIT_CWD$)/i;
  const kept = Object.entries(env).filter(([name]) => !own.test(name));
  return {
    ...Object.fromEntries(kept),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
}

/** Runs npm in a folder. */
export async function npm(args, options = {}) {
  const [command, ...first] = npmCommand();
  await runOrFail(command, [...first, ...args], { ...options, env: npmEnv() });
}
