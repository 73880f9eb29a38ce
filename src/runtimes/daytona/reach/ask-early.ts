/** Asks while the sandbox still starts. A provider that answers only for sandboxes that have started is asked again when this one has. */
export async function askEarly<Answer>(ask: () => Promise<Answer>, started: Promise<unknown>): Promise<Answer> {
  let isStarted = false
  const noted = started.then(() => {
    isStarted = true
  })
  noted.catch(() => {}) // told below, where it matters
  try {
    return await ask()
  } catch (error) {
    if (isStarted) throw error
    await noted
    return await ask()
  }
}
