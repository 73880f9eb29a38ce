/** A program with Claude Code's wire: the prompt on stdin, events on stdout, one a line. It keeps what it was given beside itself. */
export const STAND_IN = `#!/bin/bash
cat > prompt
printf '%s\\n' "$@" > args
env | grep -E 'ANTHROPIC|IS_SANDBOX' | LC_ALL=C sort > variables
say() { printf '%s\\n' "$1"; }
say '{"type":"system","subtype":"init","session_id":"s","cwd":"/workspace","model":"claude-sonnet-4-5","tools":["Bash","Edit"]}'
say '{"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"hm","signature":"x"}]},"session_id":"s"}'
say '{"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"I mend it."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"sed -i s/-/+/ sum.sh"}}]},"session_id":"s"}'
sed -i s/-/+/ sum.sh
say '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"mended"}],"is_error":false}]},"session_id":"s"}'
say '{"type":"some_later_event","whatever":1}'
say '{"type":"assistant","message":{"id":"m2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Done."}]},"session_id":"s"}'
say '{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"num_turns":2,"result":"Done.","session_id":"s","total_cost_usd":0.01}'
`

/** One that prints what it is told to, and ends as it is told to. */
export function sayOnly(lines: readonly unknown[], status = 0): string {
  const said = lines.map(line => `printf '%s\\n' '${typeof line === 'string' ? line : JSON.stringify(line)}'`)
  return ['#!/bin/bash', 'cat > /dev/null', ...said, `echo trouble >&2; exit ${status}`, ''].join('\n')
}
