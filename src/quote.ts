/** Text as one word of a POSIX shell's command, taken as it is. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
