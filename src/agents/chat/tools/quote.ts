/** Text as one word of a shell's command. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
