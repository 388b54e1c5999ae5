import { pyStrip } from './python.ts';

/**
 * `allowed_hosts` entries (harbor.md §2.6): host names, a leading `*.`, IP addresses, strict CIDR ranges.
 * Address rules are those of Python's `ipaddress`.
 */

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\n?$/;
const NOT_A_HOST =
  'allowed_hosts entries must be hostnames, IP addresses, or IP CIDR ranges, not URLs, ports, or paths.';

/** The normalised entries, or the message with which Harbor rejects the first bad one. */
export function normaliseHosts(hosts: readonly string[]): readonly string[] | { readonly error: string } {
  const out: string[] = [];
  for (const entry of hosts) {
    const host = normaliseHost(entry);
    if (typeof host !== 'string') return host;
    out.push(host);
  }
  return out;
}

function normaliseHost(entry: string): string | { readonly error: string } {
  const host = pyStrip(entry).toLowerCase().replace(/\.+$/, '');
  if (host === '') return { error: 'allowed_hosts entries must be non-empty hostnames.' };
  if (host.includes('/')) return parseNetwork(host) ?? { error: NOT_A_HOST };
  if (host.includes(':')) {
    const words = host.includes('%') ? undefined : parseIpv6(host);
    return words === undefined ? { error: NOT_A_HOST } : formatIpv6(words);
  }
  if (host.includes('[') || host.includes(']')) return { error: NOT_A_HOST };
  let name = host;
  if (host.startsWith('*.')) {
    name = host.slice(2);
    if (name === '') return { error: 'allowed_hosts wildcard entries must include a hostname suffix.' };
    if (parseIpv4(name) !== undefined) {
      return { error: 'allowed_hosts wildcard entries must target hostnames, not IP address literals.' };
    }
  } else if (host.includes('*')) {
    return { error: "allowed_hosts wildcard entries must use a leading '*.' prefix." };
  }
  if (name.split('.').every((label) => LABEL.test(label))) return host;
  return {
    error:
      'allowed_hosts entries must be IP addresses, IP CIDR ranges, or valid hostnames or leading wildcard host patterns containing only letters, digits, hyphens, and dots.',
  };
}

/** Four decimal octets without leading zeros -> 32-bit number. */
function parseIpv4(text: string): number | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = value * 256 + Number(part);
  }
  return value;
}

/** Eight 16-bit words. */
function parseIpv6(text: string): readonly number[] | undefined {
  let parts = text.split(':');
  if (parts.length < 3) return undefined;
  const last = parts[parts.length - 1] ?? '';
  if (last.includes('.')) {
    const v4 = parseIpv4(last);
    if (v4 === undefined) return undefined;
    parts = [...parts.slice(0, -1), Math.floor(v4 / 65536).toString(16), (v4 % 65536).toString(16)];
  }
  if (parts.length > 9) return undefined;
  const gap = text.indexOf('::');
  if (gap !== text.lastIndexOf('::') || text.includes(':::')) return undefined;
  if (gap < 0) return parts.length === 8 ? hextets(parts) : undefined;
  if ((text.startsWith(':') && gap !== 0) || (text.endsWith(':') && gap !== text.length - 2))
    return undefined;
  const middle = parts.indexOf('', gap === 0 ? 1 : 0);
  const head = hextets(parts.slice(0, middle).filter((part) => part !== ''));
  const tail = hextets(parts.slice(middle + 1).filter((part) => part !== ''));
  if (head === undefined || tail === undefined || head.length + tail.length > 7) return undefined;
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function hextets(parts: readonly string[]): readonly number[] | undefined {
  return parts.every((part) => /^[0-9a-f]{1,4}$/.test(part))
    ? parts.map((part) => Number.parseInt(part, 16))
    : undefined;
}

/** Compressed form: the first longest run of two or more zero words becomes `::`. */
function formatIpv6(words: readonly number[]): string {
  let start = -1;
  let length = 1;
  for (let i = 0; i < 8; i++) {
    let run = 0;
    while (i + run < 8 && words[i + run] === 0) run++;
    if (run > length) [start, length] = [i, run];
  }
  const hex = words.map((word) => word.toString(16));
  if (start < 0) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

/** `ip_network(text, strict=True).compressed`, else undefined; host bits must be zero. */
function parseNetwork(text: string): string | undefined {
  const [address, mask, ...rest] = text.split('/');
  if (address === undefined || mask === undefined || rest.length > 0 || address.includes('%'))
    return undefined;
  const v4 = parseIpv4(address);
  if (v4 !== undefined) {
    const prefix = /^\d+$/.test(mask) ? Number(mask) : prefixOfMask(mask);
    if (prefix === undefined || prefix > 32 || v4 % 2 ** (32 - prefix) !== 0) return undefined;
    return `${address}/${prefix}`;
  }
  const words = parseIpv6(address);
  if (words === undefined || !/^\d+$/.test(mask) || Number(mask) > 128) return undefined;
  const prefix = Number(mask);
  const bits = words.map((word) => word.toString(2).padStart(16, '0')).join('');
  return bits.slice(prefix).includes('1') ? undefined : `${formatIpv6(words)}/${prefix}`;
}

/** `255.255.0.0` and `0.0.255.255` -> 16. */
function prefixOfMask(mask: string): number | undefined {
  const value = parseIpv4(mask);
  if (value === undefined) return undefined;
  const bits = value.toString(2).padStart(32, '0');
  const match = /^(1*)0*$/.exec(bits) ?? /^(0*)1*$/.exec(bits);
  return match?.[1]?.length;
}
