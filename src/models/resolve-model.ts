import { statusOf, unknownModel } from './errors.ts'
import type { HttpClient } from './http.ts'
import { listModels } from './list-models.ts'
import { nearestNames } from './nearest-names.ts'
import type { CatalogModel } from './replies.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * The id that services know a model by: a UUID is one already, anything else is asked of the catalogue once. Names are taken as HUD
 * takes them: id, display name, slug, or slug without its provider, in any case. Rejects with `unknown-model`, naming near ones.
 */
export async function resolveModel(http: HttpClient, apiUrl: string, model: string): Promise<string> {
  if (UUID.test(model)) return model.toLowerCase()
  const { resolvedReply } = await import('./replies.ts')
  try {
    return (await http.get(`${apiUrl}/v2/models/resolve?model=${encodeURIComponent(model)}`, resolvedReply)).id
  } catch (error) {
    // Not all services resolve, and those that do say only that there is none: the list knows it, or what it may have meant.
    if (!NOT_RESOLVED.has(statusOf(error) ?? 0)) throw error
  }
  const models = await listModels(http, apiUrl)
  const wanted = model.toLowerCase()
  const found = models.find(each => namesOf(each).some(name => name.toLowerCase() === wanted))
  if (found === undefined) throw unknownModel(model, apiUrl, nearestNames(model, models.flatMap(namesOf)))
  return found.id
}

const NOT_RESOLVED = new Set([400, 404, 405, 422])

function namesOf({ id, name, slug }: CatalogModel): string[] {
  return [slug, slug.slice(slug.lastIndexOf('/') + 1), name, id]
}
