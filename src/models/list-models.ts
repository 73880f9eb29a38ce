import type { HttpClient } from './http.ts'
import type { CatalogModel } from './replies.ts'

const PAGE = 100
/** A catalogue that never comes to its own total ends here. */
const MAX_PAGES = 100

/** All models of the catalogue, page by page. */
export async function listModels(http: HttpClient, apiUrl: string): Promise<CatalogModel[]> {
  const { modelsReply } = await import('./replies.ts')
  const models: CatalogModel[] = []
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items, total } = await http.get(`${apiUrl}/v2/models?limit=${PAGE}&offset=${models.length}`, modelsReply)
    models.push(...items)
    if (items.length === 0 || models.length >= total) break
  }
  return models
}
