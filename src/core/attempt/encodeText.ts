/**
 * A text as VS Code writes it to a file, by VS Code's names of encodings; undefined for one that we cannot write (those
 * of more than one byte a character, but UTF). A character that the encoding lacks makes it undefined too.
 */
export function encodeText(text: string, encoding: string): Buffer | undefined {
  switch (encoding) {
    case 'utf8':
      return Buffer.from(text, 'utf8');
    case 'utf8bom':
      return Buffer.from(`\ufeff${text}`, 'utf8');
    case 'utf16le':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'utf16be':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
    default:
      return encodeBytes(text, encoding);
  }
}

/** VS Code's name, and that of the WHATWG encoding standard. */
const byteEncodings: Readonly<Record<string, string>> = {
  windows1250: 'windows-1250',
  windows1251: 'windows-1251',
  windows1253: 'windows-1253',
  windows1254: 'windows-1254',
  windows1257: 'windows-1257',
  iso88592: 'iso-8859-2',
  iso88595: 'iso-8859-5',
  iso88597: 'iso-8859-7',
  iso885915: 'iso-8859-15',
  koi8r: 'koi8-r',
  koi8u: 'koi8-u',
};

/** 0x80 to 0x9f of Windows 1252: Node's decoder of that name reads ISO 8859-1. */
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

const tables = new Map<string, ReadonlyMap<string, number>>();

function encodeBytes(text: string, encoding: string): Buffer | undefined {
  // The standard takes ISO 8859-1 for Windows 1252; VS Code does not.
  if (encoding === 'iso88591') return /^[\0-\u00ff]*$/.test(text) ? Buffer.from(text, 'latin1') : undefined;
  const name = byteEncodings[encoding] ?? encoding;
  if (name === encoding && name !== 'windows1252') return undefined;
  const table = tables.get(name) ?? tableOf(name);
  tables.set(name, table);
  const bytes = Buffer.alloc(text.length);
  for (let i = 0; i < text.length; i++) {
    const byte = table.get(text[i] as string);
    if (byte === undefined) return undefined;
    bytes[i] = byte;
  }
  return bytes;
}

function tableOf(name: string): ReadonlyMap<string, number> {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  if (name === 'windows1252')
    return new Map(bytes.map((byte) => [windows1252[byte - 0x80] ?? String.fromCharCode(byte), byte]));
  const decoder = new TextDecoder(name);
  return new Map(bytes.map((byte) => [decoder.decode(Uint8Array.of(byte)), byte]));
}
