/** Options of a VS Code server for tests or for `npm start`. */
export interface ServerOptions {
  /** User settings on top of the quiet ones. */
  settings?: Record<string, unknown>;
  /** The extension to install: a folder with a built extension, or a .vsix. */
  extensionFrom?: string;
  extensionsDir?: string;
  userDataDir?: string;
  /** 0 or absent: any free port. */
  port?: number;
  /** The secret that the address must carry; absent: none. */
  token?: string;
  /** VS Code's own test driver: it honours `payload` in the address and hides notifications. */
  driver?: boolean;
  /** Temporary files of extensions and terminals go with the server. */
  ownTemp?: boolean;
  /** More flags of the server. */
  args?: string[];
  env?: Record<string, string>;
  onOutput?: (text: string) => void;
}

export interface EditorServer {
  port: number;
  authority: string;
  /** The address of a workbench on a folder (absent: an empty window). */
  url(folder?: string, query?: string): string;
  /** Settles with the reason when the server ends. */
  ended: Promise<string>;
  log(): string;
  stop(): Promise<void>;
}

export function startServer(options?: ServerOptions): Promise<EditorServer>;
