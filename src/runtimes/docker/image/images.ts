import type { Engine } from '../engine/engine.ts'
import type { DockerSettings, ImageSource } from '../settings.ts'
import { obtainImage, type ReadyImage } from './obtain.ts'

/** The images of a runtime: each obtained once, with the first sandbox that wants it. */
export interface Images {
  /** Rejects as `obtainImage` does; what has failed is tried again by the next who asks. */
  obtain(source: ImageSource): Promise<ReadyImage>
  /** Of those that are there. */
  ids(): ReadonlySet<string>
}

/** Pulls and builds are called off when `closing` aborts, and not with the sandbox that wanted them: the next one wants them, too. */
export function makeImages(
  engine: Engine,
  settings: Pick<DockerSettings, 'command' | 'onImageLog'>,
  closing: AbortSignal,
): Images {
  const images = new Map<string, Promise<ReadyImage>>()
  const ids = new Set<string>()

  async function obtain(source: ImageSource): Promise<ReadyImage> {
    const image = await obtainImage(engine, { ...settings, source }, closing)
    ids.add(image.id)
    return image
  }

  return {
    obtain(source) {
      const key = JSON.stringify(source)
      const known = images.get(key)
      if (known !== undefined) return known
      const obtaining = obtain(source)
      images.set(key, obtaining)
      obtaining.catch(() => images.delete(key))
      return obtaining
    },
    ids: () => ids,
  }
}
