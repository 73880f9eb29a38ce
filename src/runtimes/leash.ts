/**
 * Runs `"$@"` and ends the whole process group when stdin closes, which it does however the process at its other end ends. The watcher
 * ignores SIGTERM, so that it is there to send SIGKILL to what ignores it as well; the shell outlives SIGTERM to reap the program.
 */
const SCRIPT = `
exec 3<&0
"$@" 3<&- </dev/null &
child=$!
(trap '' TERM; while read -r line <&3; do :; done; kill -TERM 0; sleep 5; kill -KILL 0) >/dev/null 2>&1 &
watcher=$!
trap : TERM
exec 3<&-
wait $child
code=$?
while kill -0 $child 2>/dev/null; do wait $child; code=$?; done
kill -KILL $watcher
wait $watcher 2>/dev/null
exit $code
`

/** The command, held so that a parent killed outright does not leave it running. For programs that do not watch their stdin. */
export function leashed(argv: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return ['/bin/sh', '-c', SCRIPT, 'leash', ...argv]
}
