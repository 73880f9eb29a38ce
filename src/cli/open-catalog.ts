import { Catalog } from '../models/catalog.ts'
import { hudEndpoint, type ModelEndpoint, oneServer } from '../models/endpoint.ts'
import { notAUrl } from './errors.ts'

/** The catalogue that `--url` names, else HUD's; closed after `use`. */
export async function withCatalog<Result>(
  url: string | undefined,
  use: (catalog: Catalog) => Promise<Result>,
): Promise<Result> {
  await using catalog = new Catalog(url === undefined ? hudEndpoint() : serverAt(url))
  return await use(catalog)
}

/** `http://host:port`, or `host:port` alone. Throws `not-a-url`. */
function serverAt(url: string): ModelEndpoint {
  const whole = url.includes('://') ? url : `http://${url}`
  if (!URL.canParse(whole)) throw notAUrl(url)
  return oneServer(whole)
}
