import { renderTable } from '../report/table.ts'
import { decimal } from '../report/units.ts'
import type { Checkpoint } from '../training/trainer.ts'
import type { Cli } from './cli.ts'
import type { ModelsArguments } from './commands/models.ts'
import { withCatalog } from './open-catalog.ts'

export async function listCheckpoints(model: string, { url, json }: ModelsArguments, { console }: Cli): Promise<void> {
  const checkpoints = await withCatalog(url, catalog => catalog.checkpoints(model))
  await console.print(json === true ? JSON.stringify(checkpoints) : renderCheckpoints(checkpoints))
}

/** Rejects with `unknown-checkpoint` naming where they are listed. */
export async function moveHead(
  model: string,
  checkpoint: string | undefined,
  { url, json }: ModelsArguments,
  { console }: Cli,
): Promise<void> {
  const head = await withCatalog(url, async catalog => {
    if (checkpoint !== undefined) await catalog.setHead(model, checkpoint)
    return catalog.head(model)
  })
  if (json === true) await console.print(JSON.stringify(head ?? null))
  else await console.print(head === undefined ? `${model} serves its base` : describeCheckpoint(head))
}

export function describeCheckpoint({ id, name, meanReward }: Checkpoint): string {
  return [id, ...(name === null ? [] : [name]), `mean reward ${decimal(meanReward, 3)}`].join('  ')
}

function renderCheckpoints(checkpoints: readonly Checkpoint[]): string {
  return renderTable(
    ['', 'checkpoint', 'after', 'made', 'datums', 'mean reward', 'learning rate', 'loss'],
    checkpoints.map(node => [
      node.isActive ? '*' : '',
      node.id,
      node.parentId ?? 'the base',
      node.createdAt ?? '–',
      node.numDatums ?? '–',
      decimal(node.meanReward, 3),
      node.learningRate ?? '–',
      node.lossFn ?? '–',
    ]),
    { left: [0, 1, 2, 3, 7] },
  )
}
