/** The events as they come. What goes wrong after the reply is whole takes nothing from it: that ends the events like their end. */
export async function* untilWhole<Event>(events: AsyncIterable<Event>, isWhole: () => boolean): AsyncGenerator<Event> {
  try {
    yield* events
  } catch (error) {
    if (!isWhole()) throw error
  }
}
