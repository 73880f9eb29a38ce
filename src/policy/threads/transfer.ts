/** The buffers of all typed arrays anywhere in `value`, each once: an answer's memory goes over to whoever asked. */
export function answerBuffers(value: unknown, found = new Set<ArrayBuffer>()): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer)
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) answerBuffers(part, found)
  }
  return [...found]
}
