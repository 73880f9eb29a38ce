import { untilAborted } from '../../../bounded.ts'
import type { Engine } from '../engine/engine.ts'
import { diskNotMeasured } from './errors.ts'
import { makeOutput } from './output.ts'

const KIB = 1024

/** Bytes that are free where a container's files are, as its own `df` says. Rejects with `docker-disk-unknown` where it has none that says it. */
export async function measureFreeDisk(
  { ask, docker }: Engine,
  container: { readonly id: string; readonly name: string },
  signal: AbortSignal,
): Promise<number> {
  const output = makeOutput()
  await ask(
    `run df in the container ${container.name}`,
    async abortSignal => {
      const exec = await docker
        .getContainer(container.id)
        .exec({ Cmd: ['df', '-Pk', '/'], AttachStdout: true, abortSignal })
      const stream = await exec.start({ hijack: false, stdin: false, abortSignal })
      await untilAborted(
        drain(stream, piece => output.write(piece)),
        abortSignal,
      )
    },
    { signal },
  )
  // The last line: file system, blocks, used, available, capacity, mounted on.
  const available = Number(output.tail().split('\n').at(-1)?.trim().split(/\s+/).at(-3))
  if (!Number.isFinite(available)) throw diskNotMeasured(container.name, output.tail())
  return available * KIB
}

async function drain(stream: NodeJS.ReadableStream, write: (piece: Uint8Array) => void): Promise<void> {
  for await (const piece of stream) write(typeof piece === 'string' ? Buffer.from(piece) : piece)
}
