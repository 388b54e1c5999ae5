/**
 * The container's end of the file channel: one `sh -c SCRIPT` that lives as long as the channel, and the commands that
 * are sent to it. Needs sh and coreutils only; dash with GNU coreutils and busybox ash were measured (fs-channel.md §2).
 *
 * A request is a line `NONCE COMMAND`, then the raw bytes of a write. The reply is raw bytes, then `\0NONCE code\n`.
 * The engine makes a frame of every little write, which costs more than what is written: long replies leave in blocks.
 * Every command but the one that takes a write's bytes has its input from /dev/null, or it would eat the requests that
 * follow. A line that does not start with the channel's key ends the script: what follows is out of step.
 */

/** Names of the files that a write makes before its rename; a listing leaves them out. */
export const tempPrefix = '.e2eswe-tmp.';
/** A write's bytes are taken in blocks, which every dd reads exactly; busybox's `head -c` takes more than its share. */
export const blockBytes = 65_536;

/** Names and targets may hold anything but NUL. */
const treeFormat = '%y %m %s %i %n %U %G %T@ %C@ %p\\0%l\\0';

export function serverScript(key: string): string {
  return `LC_ALL=C; export LC_ALL; set +e; N='
'
case $(stat -c %.9Y / 2>/dev/null) in
*.?????????) F='%f %s %.9Y %.9Z %i %u %g' ;;
*) F='%f %s %Y %Z %i %u %g %y' ;;
esac
case $(mv -T 2>&1 </dev/null) in *nvalid*|*nrecognized*) O= ;; *) O=-T ;; esac
A() { [ -e "$1" ] || [ -L "$1" ]; }
I() { stat -c x "$1" </dev/null 2>&1 >/dev/null; return 2; }
P() { echo $$; }
E() { if A "$1"; then echo 1; else echo 0; fi; }
S() {
  stat -c "$F" "$1" </dev/null 2>&1 || return
  if [ -L "$1" ]; then stat -L -c "$F" "$1" </dev/null 2>/dev/null; fi
  return 0
}
M() {
  a=
  for f do
    shift
    if [ -e "$f" ]; then
      if [ -L "$f" ]; then a="\${a}l"; else a="\${a}e"; fi
      set -- "$@" "$f"
    elif [ -L "$f" ]; then a="\${a}d"; else a="$a-"; fi
  done
  echo "$a"
  [ $# = 0 ] || stat -L -c "$F" "$@" </dev/null 2>&1
  return 0
}
L() {
  [ -d "$1" ] || { I "$1/."; return; }
  [ -r "$1" ] && [ -x "$1" ] || { echo 'Permission denied'; return 13; }
  a=
  for f in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    t=
    if [ -L "$f" ]; then t=l; fi
    if [ -d "$f" ]; then t=d$t; elif [ -f "$f" ]; then t=f$t; elif A "$f"; then t=u$t; else continue; fi
    a="$a$t/\${f##*/}/"
    if [ \${#a} -gt 4000 ]; then printf %s "$a"; a=; fi
  done
  printf %s "$a"
}
R() {
  if [ -d "$2" ]; then echo 'Is a directory'; return 21; fi
  if [ -f "$2" ]; then
    if [ "$1" = 0 ]; then dd if="$2" bs=${blockBytes} status=none </dev/null 2>&1
    else dd if="$2" bs=${blockBytes} count="$1" iflag=fullblock status=none </dev/null 2>&1; fi
  elif [ -e "$2" ]; then echo 'Not a regular file'; return 22
  else stat -L -c x "$2" </dev/null 2>&1 >/dev/null; return 2; fi
}
D() {
  [ "$1" = 0 ] || dd bs=${blockBytes} count="$1" iflag=fullblock status=none
  [ "$2" = 0 ] || dd bs="$2" count=1 iflag=fullblock status=none
} 2>/dev/null
W() {
  p=$6; q=$6; n=$3; e=
  if [ -L "$p" ]; then p=$(readlink -f "$p" </dev/null 2>/dev/null; echo x); p=\${p%??}; fi
  if [ -z "$p" ]; then e='Too many levels of symbolic links'
  elif [ -d "$p" ]; then e='Is a directory'
  elif [ -e "$p" ]; then
    if [ "$5" != y ]; then e='File exists'
    elif [ ! -f "$p" ]; then e='Not a regular file'
    elif [ ! -w "$p" ]; then e='Permission denied'; fi
  elif [ "$4" != y ]; then e='No such file or directory'
  elif [ ! -d "\${p%/*}/" ]; then e=$(I "\${p%/*}/."); fi
  if [ -n "$e" ]; then D "$1" "$2" | cat >/dev/null; echo "$e"; return 3; fi
  m="\${p%/*}/${tempPrefix}$T"
  D "$1" "$2" | {
    if [ -e "$p" ]; then umask 077; fi
    cat >"$m" || { cat >/dev/null; false; }
  } 2>&1 || { rm -f "$m" </dev/null; return 28; }
  set -- $(stat -c '%s %a %u:%g' "$m" "$p" </dev/null 2>/dev/null)
  if [ "$1" != "$n" ]; then rm -f "$m" </dev/null; echo 'Input/output error'; return 5; fi
  if [ $# = 6 ]; then
    [ "$3" = "$6" ] || chown "$6" "$m" </dev/null 2>/dev/null
    chmod "$5" "$m" </dev/null 2>/dev/null
  fi
  mv -f $O "$m" "$p" </dev/null 2>&1 || { rm -f "$m" </dev/null; return 1; }
  S "$q"
}
V() {
  A "$2" || { I "$2"; return; }
  if A "$3"; then
    [ "$1" = y ] || { echo 'File exists'; return 17; }
    if [ -d "$3" ]; then
      b="\${3%/*}/${tempPrefix}$T~"
      mv -f $O "$3" "$b" </dev/null 2>&1 || return
      if mv -f $O "$2" "$3" </dev/null 2>&1; then rm -rf "$b" </dev/null 2>/dev/null; return 0; fi
      mv -f $O "$b" "$3" </dev/null 2>/dev/null
      return 1
    fi
  fi
  mv -f $O "$2" "$3" </dev/null 2>&1
}
C() {
  A "$2" || { I "$2"; return; }
  if A "$3" && [ "$1" != y ]; then echo 'File exists'; return 17; fi
  m="\${3%/*}/${tempPrefix}$T"
  cp -a "$2" "$m" </dev/null 2>&1 || { rm -rf "$m" </dev/null 2>/dev/null; return 1; }
  V y "$m" "$3"
}
X() {
  if [ -d "$2" ] && [ ! -L "$2" ]; then
    if [ "$1" = y ]; then rm -rf "$2" </dev/null 2>&1; else rmdir "$2" </dev/null 2>&1; fi
  elif A "$2"; then rm -f "$2" </dev/null 2>&1
  else I "$2"; fi
}
K() { if [ "$1" = y ]; then mkdir -p "$2" </dev/null 2>&1; else mkdir "$2" </dev/null 2>&1; fi; }
U() {
  m="\${2%/*}/${tempPrefix}$1"
  if A "$m~"; then if A "$2"; then rm -rf "$m~"; else mv -f $O "$m~" "$2"; fi; fi </dev/null 2>/dev/null
  rm -rf "$m" </dev/null 2>/dev/null
}
Y() {
  set -- "$1"/* "$1"/.[!.]* "$1"/..?*
  stat -c "$y" "$@" </dev/null 2>/dev/null || [ $? -lt 126 ] || g=126
  for f do if [ -d "$f" ] && [ ! -L "$f" ]; then Y "$f"; fi; done
}
H() {
  [ -z "$h" ] || return
  if find / -maxdepth 0 -printf x </dev/null >/dev/null 2>&1; then h=p
  elif find / -maxdepth 0 -exec stat -c x {} + </dev/null >/dev/null 2>&1; then h=e
  else h=w; fi
}
Z() {
  H; y='//%f %s %i %z %n'
  {
  case $h in
  p) find "$@" -printf '//%y %s %i %C@ %p\\n' </dev/null 2>/dev/null ;;
  e) find "$@" -exec stat -c "$y" {} + </dev/null 2>/dev/null ;;
  w) g=0; Y "$1"; (exit $g) ;;
  esac
  printf '//= %d /\\n' $?
  } | dd obs=${blockBytes} status=none
}
G() {
  H; y='//%f %s %i %h %u %g %Y %z %n'; g=0; e=
  {
  printf '%s ' "$h"; date +%s.%N </dev/null
  case $h in
  p) e=$(find "$1" -xdev -printf '${treeFormat}' </dev/null 2>&1 >&3) || g=$? ;;
  e) e=$(find "$1" -xdev -exec stat -c "$y" {} + </dev/null 2>&1 >&3) || g=$? ;;
  w) stat -c "$y" "$1" </dev/null 2>/dev/null && Y "$1" ;;
  esac
  printf '//= %d %s' "$g" "$e"
  } 3>&1 | dd obs=${blockBytes} status=none
}
B() { cat "$@" </dev/null 2>&1; }
Q() { readlink "$1" </dev/null 2>&1; }
h=
while IFS=' ' read -r T c; do
  case $T in ${key}*) eval "$c"; printf '\\0%s %d\\n' "$T" "$?" ;; *) exit 9 ;; esac
done`;
}

/** A path (binary string) as one word of a command; newlines cannot stand in a line. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''").replaceAll('\n', `'"$N"'`)}'`;
}

/** A base name as a pattern of `find -name` that matches nothing else. */
function literalPattern(name: string): string {
  return name.replace(/[*?[\]\\]/g, '\\$&');
}

const flag = (value: boolean): string => (value ? 'y' : 'n');

/** The commands, as text after the nonce. Paths are absolute binary strings. */
export const command = {
  pid: () => 'P',
  exists: (path: string) => `E ${quote(path)}`,
  stat: (path: string) => `S ${quote(path)}`,
  statMany: (paths: readonly string[]) => `M ${paths.map(quote).join(' ')}`,
  list: (path: string) => `L ${quote(path)}`,
  /** At most so many blocks; 0: all of it. */
  read: (path: string, blocks: number) => `R ${blocks} ${quote(path)}`,
  write: (path: string, bytes: number, create: boolean, overwrite: boolean) =>
    `W ${Math.floor(bytes / blockBytes)} ${bytes % blockBytes} ${bytes} ${flag(create)} ${flag(overwrite)} ${quote(path)}`,
  rename: (from: string, to: string, overwrite: boolean) =>
    `V ${flag(overwrite)} ${quote(from)} ${quote(to)}`,
  copy: (from: string, to: string, overwrite: boolean) => `C ${flag(overwrite)} ${quote(from)} ${quote(to)}`,
  remove: (path: string, recursive: boolean) => `X ${flag(recursive)} ${quote(path)}`,
  mkdir: (path: string, parents: boolean) => `K ${flag(parents)} ${quote(path)}`,
  /** All that is known of a folder and everything below it, with link targets where find gives them. */
  tree: (root: string) => `G ${quote(root)}`,
  /** The contents of files, one after the other. */
  readTogether: (paths: readonly string[]) => `B ${paths.map(quote).join(' ')}`,
  readLink: (path: string) => `Q ${quote(path)}`,
  /** Undoes what an interrupted request on a path left beside it. */
  undo: (nonce: string, path: string) => `U ${nonce} ${quote(path)}`,
  /** Everything below a folder, folders of these base names left out. */
  scan: (root: string, exclude: readonly string[]) => {
    const names = exclude.map((name) => `-name ${quote(literalPattern(name))}`).join(' -o ');
    return `Z ${quote(root)} -xdev${names && ` \\( ${names} \\) -prune -o`}`;
  },
} as const;
