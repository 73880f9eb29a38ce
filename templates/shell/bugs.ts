const SCRIPT = `#!/usr/bin/env bash
set -euo pipefail
total=0
while IFS=, read -r item quantity cents paid || [[ -n $item ]]; do
  [[ $item == item ]] && continue
  if [[ $paid == yes ]]; then
    total=$((total + quantity * cents))
  fi
done < "$1"
echo "$total"
`

/** Each is one place of the script, as it should be and as it is. */
export const BUGS = {
  quantity: { right: 'total + quantity * cents', wrong: 'total + cents' },
  paid: { right: '[[ $paid == yes ]]', wrong: '[[ -n $paid ]]' },
  // read fails at the end of the file, and a last line without a newline is lost.
  'last-line': { right: ' || [[ -n $item ]]; do', wrong: '; do' },
  sum: { right: 'total + quantity * cents', wrong: 'quantity * cents' },
} as const

export type BugName = keyof typeof BUGS
export const BUG_NAMES = ['quantity', 'paid', 'last-line', 'sum'] as const satisfies readonly BugName[]

export function brokenScript(bug: BugName): string {
  // A function, since `$` means something in a replacement that is text.
  return SCRIPT.replace(BUGS[bug].right, () => BUGS[bug].wrong)
}
