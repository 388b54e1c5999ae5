import { readRecordLines } from '#core/attempt/readRecordLog.ts';
import { recordFileOf } from '#core/attempt/recorder.ts';
import { TextReplay } from '#core/attempt/replayText.ts';
import type { ModelText } from './scriptedSession.ts';

/** The texts by the record alone. */
export async function textsOf(dir: string): Promise<Map<string, ModelText>> {
  const replay = new TextReplay();
  for await (const line of readRecordLines(recordFileOf(dir))) replay.apply(line);
  return new Map(
    replay.paths.map((path) => {
      const file = replay.get(path);
      if (!file || file.doubt !== undefined) throw new Error(`${path}: ${file?.doubt ?? 'it is gone'}`);
      const { text, encoding, eol, saved } = file;
      return [path, { text, encoding, eol, saved }];
    }),
  );
}
