/** What piscina calls, a task a question. */
export default function double(value: number): number {
  return value * 2
}
