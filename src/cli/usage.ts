export const usage = `e2e-swe: build and judge whole repositories from a spec

  e2e-swe tasks [DIR…] [--json]
      List the tasks of each folder (the bundled ones when none is named), with what is wrong about them.

  e2e-swe grade TASK (--workspace DIR|TAR | --solution | --empty) [options]
      Grade a workspace, the reference solution or an empty workspace in a fresh, offline container.
      --out DIR         keep logs, reports and the submission there (an empty folder, else a new one in it)
      --json            print the result as one JSON object
      --timeout SEC     end the tests after SEC seconds instead of [verifier].timeout_sec
      --keep            keep the container, for a look inside; refused while an attempt at the task is under way
      --hardened        run the submission's set-up and the tests in containers of their own, the tests out of its reach;
                        for tasks that declare both scripts in [metadata.e2e_swe_workbench]
      --live            show the tests' output while they run
      --allow-host-env  let the task read the host variables that it names

  e2e-swe attempt start TASK [--protocol FILE.json] [--allow-host-env]
      Make an offline workspace from the task's image and spec; prints the attempt's id. With --protocol it is a
      measured attempt, under the conditions in that file: among them what its grades show until it is over.
  e2e-swe attempt example (protocol|debrief)
      Print an example of the file that "start --protocol" or "debrief" reads.
  e2e-swe attempt list [--json] | show ID [--json]
      List the attempts; show where one stands, its history and its grades.
  e2e-swe attempt exec [-i] [--actor human|agent] ID -- CMD…
      Run a command in the workspace; its exit code is the result. -i passes standard input on; --actor says in the
      record who ran it.
  e2e-swe attempt grade ID [--snapshot SNAPSHOT] [--keep-working] [--hardened] [--json] [--live] [--allow-host-env]
      Freeze the workspace while it is graded as above; with --keep-working, only while its submission is taken.
      With --snapshot it is graded as it was then. A measured attempt shows no more than its tier, and no --live below
      "full", until it is over.
  e2e-swe attempt snapshots ID [--verify] [--json] | snapshot ID
      List the snapshots of the workspace (--verify reads them all; exit code 1 damaged); take one, and print its id.
  e2e-swe attempt view ID SNAPSHOT [PATH] [--json]
      List what a snapshot holds (type, mode, bytes, path); with PATH, the content of that file to standard output.
  e2e-swe attempt diff ID A B [--json]
      What snapshot B has otherwise than A. Exit code 0 the same, 1 different.
  e2e-swe attempt fork ID [SNAPSHOT]
      Begin another attempt with the files of a snapshot, or of the workspace as it is now; prints its id.
  e2e-swe attempt reset ID SNAPSHOT [--hard] --yes
      Put the files of a snapshot back; --hard also removes what came since. Prints the snapshot that undoes it.
  e2e-swe attempt try-setup ID
      Run the workspace's setup.sh, and nothing else, in a fresh container; lists what it changed.
  e2e-swe attempt submit ID --yes [--hardened] [--json] [--live] [--allow-host-env]
      Keep the final submission and grade it: the attempt is over.
  e2e-swe attempt devcontainer ID [--json]
      Write a devcontainer.json for the workspace, outside of it, and print its path; the attempt counts as attached.
  e2e-swe attempt probe ID [--scrub] [--json]
      List ways out of the container, as an attached editor opens them; --scrub removes what can be removed.
      Exit code 0 nothing leads out, 1 something does.
  e2e-swe attempt pause ID [--reason TEXT] | resume ID
      Stop the clock and keep the workspace frozen, whoever opens it, until it is resumed.
  e2e-swe attempt clock ID [--json]
      Show wall, unpaused, focused, active, waiting and idle time, the pauses with their reasons, and what is left.
  e2e-swe attempt curve ID [--every MIN | --snapshots A,B,…] [--out FILE] [--theme NAME] [--hardened] [--as-author]
      Grade past snapshots of an attempt that is over, in fresh containers, and put passed tests over active time:
      as a table, or in a file .svg, .csv or .json (themes: light, dark, highContrast; a PNG is made in the editor).
      What is graded already is not graded again. --as-author: also of practice that is not over.
  e2e-swe attempt note ID TEXT
      Write a note into the record.
  e2e-swe attempt verify ID [--json]
      Read the whole record: its chain of hashes, its terminals, the texts that it leads to. Exit code 1 damaged.
  e2e-swe attempt disqualify ID --reason TEXT --yes
      End it, or mark one that is over, as not counted; its files and grades stay.
  e2e-swe attempt debrief ID (FILE.json|-)
      Keep what its builder says once it is over: difficulty, estimate, approach, dead ends, ambiguities, use of AI.
  e2e-swe attempt give-up ID --yes | delete ID --yes
      End it without a submission; remove its container, files, submissions and grades.
  e2e-swe attempt export ID --out DIR [--anonymised] [--notes] [--json]
      Write the attempt as a trial folder of Harbor: config.json, result.json, agent/trajectory.json (ATIF), verifier/,
      artifacts/, and export.json with what was lost. --anonymised leaves out who built it and where, notes too unless
      --notes is given; the files of the workspace stay as they are.
  e2e-swe attempt summary [--task NAME] [--csv [--tasks] | --json] [--practice] [--anonymised] [--out FILE]
      Sum attempts up: per task how many were resolved, with Wilson's interval, the geometric mean of their times, and what
      was excluded, by reason. --csv has a row an attempt, or a task; --json has both, and the fields of the reporting
      checklist. Attempts without a protocol are practice: --practice counts them too.
  e2e-swe attempt import DIR [--remove] [--json]
      List the trials of a Harbor trial or job folder among the attempts; they are read where they are and never written.
      --remove takes the folder out of the list again.
  e2e-swe attempt orphans [ID…] [--remove] [--json]
      List workspaces in the engine whose attempt is in no store any more; --remove removes container and volume.
      One whose container runs or is frozen is never among them.

  e2e-swe harbor-check TASK (--workspace DIR|TAR | --solution | --empty) [options]
      Grade the same submission here and with the real Harbor, and compare rewards, tests and verdicts.
      --harbor CMD      the command to call (else $E2E_SWE_HARBOR, else "harbor" on the PATH)
      --public-network  leave the network open on Harbor's side, whose "no network" needs images that are pulled
      --out, --json, --allow-host-env as above; exit code 0 agree, 1 differ, 3 only one side has a grade

  e2e-swe prepare TASK
      Build or pull the task's image, so that the first grade starts at once.

  e2e-swe engines [--json]
      List where a container engine may answer, what answers there or why nothing does; * marks the one in use.
      One is chosen by $DOCKER_HOST (unix://, tcp://, ssh://, npipe://) or by the docker command's context.

  e2e-swe clean
      Remove what dead runs left in the engine, and kept containers.

Exit codes: 0 resolved, 1 unresolved, 2 wrong usage, 3 not graded, 130 cancelled.
Results are kept in $E2E_SWE_HOME, else in the user's data folder.
`;
