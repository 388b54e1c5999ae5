import { type AddCorpusDeps, addCorpus } from './addCorpus.ts';
import { type CancelGradeDeps, cancelGrade } from './cancelGrade.ts';
import type { CommandHandlers } from './commandIds.ts';
import { grade } from './grade.ts';
import { gradeEmpty } from './gradeEmpty.ts';
import { gradeSolution } from './gradeSolution.ts';
import { type HarborCheckDeps, harborCheck } from './harborCheck.ts';
import { openSpec } from './openSpec.ts';
import { type RefreshDeps, refresh } from './refresh.ts';
import { removeCorpus } from './removeCorpus.ts';

type Deps = AddCorpusDeps & CancelGradeDeps & RefreshDeps & HarborCheckDeps & Parameters<typeof grade>[0];

/** The commands about corpora, their tasks, and grades of them that are not of an attempt; these can be compared with Harbor's. */
export function taskCommands(deps: Deps) {
  return {
    'e2eSwe.refresh': refresh(deps),
    'e2eSwe.addCorpus': addCorpus(deps),
    'e2eSwe.removeCorpus': removeCorpus(deps),
    'e2eSwe.openSpec': openSpec(deps),
    'e2eSwe.grade': grade(deps),
    'e2eSwe.gradeSolution': gradeSolution(deps),
    'e2eSwe.gradeEmpty': gradeEmpty(deps),
    'e2eSwe.cancelGrade': cancelGrade(deps),
    'e2eSwe.harborCheck': harborCheck(deps),
  } satisfies Partial<CommandHandlers>;
}
