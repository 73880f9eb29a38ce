import type { z } from 'zod'
import type { Catalog } from '../models/catalog.ts'
import { statusOf, unknownModel } from '../models/errors.ts'
import type { HttpBody } from '../models/http.ts'

type Route = 'forward-backward' | 'forward' | 'backward' | 'optim-step'

/** One model's training calls. A model that the service does not know is `unknown-model`. */
export class TrainingService {
  readonly #catalog: Catalog
  readonly #model: string

  constructor(catalog: Catalog, model: string) {
    this.#catalog = catalog
    this.#model = model
  }

  /** Once, whatever comes of it. */
  async post<Reply>(route: Route, body: HttpBody, schema: z.ZodType<Reply>): Promise<Reply> {
    const url = await this.#url(route)
    return this.#aboutModel(() => this.#catalog.http.send('POST', url, body, schema))
  }

  async losses<Reply>(schema: z.ZodType<Reply>): Promise<Reply> {
    const url = await this.#url('losses')
    return this.#aboutModel(() => this.#catalog.http.get(url, schema))
  }

  /** Undefined where the service has no such question. */
  async state<Reply>(schema: z.ZodType<Reply>): Promise<Reply | undefined> {
    const url = await this.#url('state')
    try {
      return await this.#catalog.http.get(url, schema)
    } catch (error) {
      if (statusOf(error) === 404 || statusOf(error) === 405) return undefined
      throw error
    }
  }

  async #url(route: Route | 'losses' | 'state'): Promise<string> {
    const id = await this.#catalog.resolve(this.#model)
    return `${this.#catalog.endpoint.rlUrl}/v1/models/${id}/train/${route}`
  }

  async #aboutModel<Reply>(call: () => Promise<Reply>): Promise<Reply> {
    try {
      return await call()
    } catch (error) {
      throw statusOf(error) === 404 ? unknownModel(this.#model, this.#catalog.endpoint.rlUrl, [], error) : error
    }
  }
}
