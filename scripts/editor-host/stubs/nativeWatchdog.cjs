// Stands in for @vscode/native-watchdog, which ends an extension host whose parent is gone even while its JavaScript
// is blocked. The extension host also polls its parent itself, and its whole process group is killed by who started it.
exports.start = () => {};
exports.exit = (code) => process.exit(code || 0);
