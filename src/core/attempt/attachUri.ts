/**
 * Where Dev Containers finds a container that runs: `vscode-remote://attached-container+<hex>/<folder>`, the hex of
 * `{"containerName":"/<name>"}`. The form is given by its maintainers (microsoft/vscode-remote-release #5867, #8764)
 * and promised nowhere; it is unverified on machines without the extension.
 */
export function attachUri(containerName: string, workdir: string): string {
  const target = Buffer.from(JSON.stringify({ containerName: `/${containerName}` })).toString('hex');
  const folder = workdir.split('/').map(encodeURIComponent).join('/');
  return `vscode-remote://attached-container+${target}${folder}`;
}
