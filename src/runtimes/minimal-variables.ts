const PASSED = ['PATH', 'HOME', 'LANG', 'TMPDIR'] as const

/** The environment of a process that is to know nothing of this one's keys: where programs, home and temporary files are. */
export function minimalVariables(): Record<string, string> {
  const passed = PASSED.flatMap(name => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(passed)
}
