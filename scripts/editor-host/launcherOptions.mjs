import { fileURLToPath } from 'node:url';

// Flags of desktop VS Code that take a value, so that the value is not mistaken for a folder.
const WITH_VALUE = new Set([
  'crash-reporter-directory',
  'disable-extension',
  'enable-proposed-api',
  'extensionDevelopmentKind',
  'extensionDevelopmentPath',
  'extensionTestsPath',
  'extensions-dir',
  'file-uri',
  'folder-uri',
  'locale',
  'log',
  'profile',
  'shared-data-dir',
  'timeout',
  'user-data-dir',
]);

/** Reads the flags that @vscode/test-electron passes to `code`; those with no meaning here are ignored. */
export function readOptions(argv) {
  const options = {
    extensions: [],
    tests: undefined,
    folder: undefined,
    userDataDir: undefined,
    extensionsDir: undefined,
  };
  options.disableExtensions = false;
  options.serverArgs = [];
  for (let index = 0; index < argv.length; index++) {
    const [, name, joined] = /^--([^=]+)(?:=(.*))?$/s.exec(argv[index]) ?? [];
    if (!name) {
      options.folder ??= argv[index];
      continue;
    }
    const value = joined ?? (WITH_VALUE.has(name) ? argv[++index] : undefined);
    switch (name) {
      case 'extensionDevelopmentPath':
        options.extensions.push(value);
        break;
      case 'extensionTestsPath':
        options.tests = value;
        break;
      case 'user-data-dir':
        options.userDataDir = value;
        break;
      case 'extensions-dir':
        options.extensionsDir = value;
        break;
      case 'folder-uri':
        options.folder = fileURLToPath(value);
        break;
      case 'disable-extensions':
        options.disableExtensions = true;
        break;
      case 'enable-proposed-api':
      case 'log':
        options.serverArgs.push(`--${name}=${value}`);
        break;
    }
  }
  return options;
}
