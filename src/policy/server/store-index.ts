import { wrongTokenizer } from '../errors.ts'
import type { Blobs } from './blobs.ts'
import { otherBase, storeDamaged } from './errors.ts'
import { indexSchema, type ModelRecord, type StoreIndex } from './records.ts'

const INDEX = 'index.json'

/** The index there is, or a new one with one model; blobs that it does not name are removed. */
export async function openIndex(
  blobs: Blobs,
  identity: { readonly tokenizer: string; readonly base: string },
  firstModel: () => ModelRecord,
): Promise<StoreIndex> {
  const bytes = await blobs.get(INDEX)
  if (bytes === undefined) {
    const index: StoreIndex = { version: 1, ...identity, models: [firstModel()] }
    await writeIndex(blobs, index)
    return index
  }
  const index = parseIndex(bytes, `${blobs.location}/${INDEX}`)
  if (index.tokenizer !== identity.tokenizer) throw wrongTokenizer(blobs.location, identity.tokenizer, index.tokenizer)
  if (index.base !== identity.base) throw otherBase(blobs.location)
  const named = namedBlobs(index)
  const ours = /^(checkpoint-[0-9a-f-]+\.policy|(gradient|kept)-[0-9a-f]+\.bin)$/
  for (const name of await blobs.list()) if (ours.test(name) && !named.has(name)) await blobs.remove(name)
  return index
}

export async function writeIndex(blobs: Blobs, index: StoreIndex): Promise<void> {
  await blobs.put(INDEX, Buffer.from(JSON.stringify(index)))
}

export function namedBlobs({ models }: StoreIndex): Set<string> {
  return new Set(
    models
      .flatMap(({ checkpoints, accumulated }) => [
        ...checkpoints.map(({ blob }) => blob),
        accumulated?.gradient ?? null,
        ...(accumulated?.kept ?? []),
      ])
      .filter(name => name !== null),
  )
}

function parseIndex(bytes: Uint8Array, place: string): StoreIndex {
  try {
    return indexSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
  } catch (error) {
    throw storeDamaged(place, error)
  }
}
