/** Calls in flight at once; each is short. */
const WIDTH = 32

/** Works on all of `items`, so many at once; `work` does not reject. */
export async function mapWide<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  width: number = WIDTH,
): Promise<void> {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: Math.min(width, items.length) }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}
