import { from, tap } from 'rxjs'
import type { GroupId } from '../../src/ids.ts'
import type { Group } from '../../src/rollout/group.ts'
import type { Chunk } from '../../src/stream/chunk.ts'
import { chunkGroups } from '../../src/stream/chunk-groups.ts'
import type { ChunkOptions, DropReason } from '../../src/stream/chunk-options.ts'
import type { GroupStream } from '../../src/stream/group-stream.ts'
import { processChunks } from '../../src/stream/process-chunks.ts'
import type { SimulatedNode } from './node.ts'
import type { Scenario } from './scenario.ts'
import type { World } from './world.ts'

/** Takes the groups of one stream in chunks, slowly, and at times wants no more before it is over. */
export class SimulatedConsumer {
  readonly chunks: Chunk[] = []
  readonly dropped: { readonly groupId: GroupId; readonly reason: DropReason }[] = []
  end: 'completed' | 'failed' | 'left' | undefined
  error: unknown
  readonly #world: World
  readonly #node: SimulatedNode
  readonly #scenario: Scenario
  readonly #options: ChunkOptions

  constructor(
    world: World,
    node: SimulatedNode,
    scenario: Scenario,
    stream: GroupStream,
    planned: readonly GroupId[],
    /** Stands between the stream and the chunks, for a defect to be put there. */
    chunked: typeof chunkGroups = chunkGroups,
  ) {
    this.#world = world
    this.#node = node
    this.#scenario = scenario
    this.#options = {
      ...scenario.chunks,
      ...(scenario.chunks.order === 'planned' ? { planned } : {}),
      onDropped: ({ groupId }, reason) => void this.dropped.push({ groupId, reason }),
    }
    if (scenario.consumer.type === 'chunks') this.#subscribe(stream, chunked)
    else this.#iterate(stream, chunked).catch(error => this.#fail(error))
  }

  #subscribe(stream: GroupStream, chunked: typeof chunkGroups): void {
    const { leavesAfter, concurrency } = this.#scenario.consumer
    let handled = 0
    const subscription = stream
      .pipe(
        chunked(this.#options),
        tap(chunk => this.#take(chunk)),
        processChunks(
          async () => {
            await this.#work()
            handled += 1
            if (handled < leavesAfter || this.end !== undefined) return
            this.end = 'left'
            subscription.unsubscribe()
          },
          { concurrency },
        ),
      )
      .subscribe({
        complete: () => {
          this.end = 'completed'
        },
        error: error => this.#fail(error),
      })
  }

  async #iterate(stream: GroupStream, chunked: typeof chunkGroups): Promise<void> {
    const groups: Group[] = []
    let end: 'completed' | 'left' = 'completed'
    for await (const group of stream) {
      groups.push(group)
      await this.#work()
      if (groups.length < this.#scenario.consumer.leavesAfter) continue
      end = 'left'
      break
    }
    from(groups)
      .pipe(chunked(this.#options))
      .subscribe({ next: chunk => this.#take(chunk), error: error => this.#fail(error) })
    this.end ??= end
  }

  #fail(error: unknown): void {
    this.#world.note(`the stream failed: ${String(error)}`)
    this.error = error
    this.end = 'failed'
  }

  #take(chunk: Chunk): void {
    this.#world.note(`chunk ${chunk.index}: ${chunk.groups.map(group => group.groupId).join(' ')}`)
    this.chunks.push(chunk)
  }

  #work(): Promise<void> {
    return this.#node.wait(this.#world.duration(this.#scenario.consumer.workMs), 'trains')
  }
}
