import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface EngineProxy {
  /** For DOCKER_HOST. */
  readonly address: string;
  /** The engine is gone: connections break, and none is made. */
  down(): Promise<void>;
  up(): Promise<void>;
}

/** The machine's engine at a socket of one's own, which can go away. */
export async function proxyEngine(socket: string): Promise<EngineProxy> {
  const open = new Set<Socket>();
  let server: Server | undefined;
  const join = (client: Socket): void => {
    const engine = connect({ path: '/var/run/docker.sock', allowHalfOpen: true });
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.once('error', () => to.destroy());
      from.once('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  };
  const up = (): Promise<void> =>
    new Promise((resolve, reject) => {
      rmSync(socket, { force: true });
      server = createServer({ allowHalfOpen: true }, join).once('error', reject);
      server.listen(socket, resolve);
    });
  const down = async (): Promise<void> => {
    const closed = new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
    for (const one of open) one.destroy();
    await closed;
    server = undefined;
    rmSync(socket, { force: true });
  };
  await up();
  return { address: `unix://${socket}`, down, up };
}
