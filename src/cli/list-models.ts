import type { Catalog } from '../models/catalog.ts'
import { unknownModel } from '../models/errors.ts'
import type { CatalogModel } from '../models/replies.ts'
import { renderTable } from '../report/table.ts'
import { oneLine } from '../report/units.ts'
import type { Cli } from './cli.ts'
import type { ModelsArguments } from './commands/models.ts'
import { describeCheckpoint } from './list-checkpoints.ts'
import { withCatalog } from './open-catalog.ts'

const WIDTH = 40

export async function listModels({ url, json }: ModelsArguments, { console }: Cli): Promise<void> {
  const models = await withCatalog(url, catalog => catalog.list())
  await console.print(json === true ? JSON.stringify(models) : renderModels(models))
}

/** Rejects with `unknown-model`. */
export async function showModel(name: string, { url, json }: ModelsArguments, { console }: Cli): Promise<void> {
  const found = await withCatalog(url, async catalog => {
    const model = await findModel(catalog, name)
    return { ...model, head: model.isTrainable ? ((await catalog.head(model.id)) ?? null) : null }
  })
  const { head, ...model } = found
  await console.print(
    json === true
      ? JSON.stringify(found)
      : `${renderModels([model])}\nid ${model.id}\nserves ${head === null ? 'its base' : describeCheckpoint(head)}`,
  )
}

export async function forkModel(
  source: string,
  name: string,
  { url, json }: ModelsArguments,
  { console }: Cli,
): Promise<void> {
  const model = await withCatalog(url, catalog => catalog.fork(source, name))
  await console.print(json === true ? JSON.stringify(model) : model.slug)
}

async function findModel(catalog: Catalog, name: string): Promise<CatalogModel> {
  const [id, models] = [await catalog.resolve(name), await catalog.list()]
  const found = models.find(model => model.id === id)
  if (found === undefined) throw unknownModel(name, catalog.endpoint.apiUrl, [])
  return found
}

function renderModels(models: readonly CatalogModel[]): string {
  return renderTable(
    ['model', 'name', 'provider', 'trainable'],
    models.map(model => [
      model.slug,
      oneLine(model.name, WIDTH),
      model.provider ?? '–',
      model.isTrainable ? 'yes' : 'no',
    ]),
    { left: [0, 1, 2] },
  )
}
