import type { Checkpoint } from '../training/trainer.ts'
import { completeEndpoint } from './complete-endpoint.ts'
import type { ModelEndpoint } from './endpoint.ts'
import { statusOf, unknownCheckpoint, unknownModel } from './errors.ts'
import { HttpClient, type HttpOptions } from './http.ts'
import { listModels } from './list-models.ts'
import type { CatalogModel } from './replies.ts'
import { resolveModel } from './resolve-model.ts'

/** Where the catalogue is (HUD's where nothing is said), and how to talk to it. */
export type CatalogOptions = Partial<ModelEndpoint> & Omit<HttpOptions, 'apiKeyVariable'>

/** The schemas of what comes back, loaded with the first call. */
const replies = () => import('./replies.ts')

/** Models, and the checkpoints behind each. Every call takes a slug or an id and rejects with `unknown-model` where there is none. */
export class Catalog implements AsyncDisposable {
  readonly endpoint: ModelEndpoint
  /** Its own, with the endpoint's key. */
  readonly http: HttpClient
  /** Each resolved once. A failure is not kept: the next call asks again. */
  readonly #ids = new Map<string, Promise<string>>()

  /** Rejects nothing yet: a missing key is an error of the first call. */
  constructor(options: CatalogOptions = {}) {
    this.endpoint = completeEndpoint(options, options.env)
    this.http = new HttpClient({ ...options, apiKeyVariable: this.endpoint.apiKeyVariable })
  }

  list(): Promise<readonly CatalogModel[]> {
    return listModels(this.http, this.endpoint.apiUrl)
  }

  /** The model's id. */
  resolve(model: string): Promise<string> {
    const known = this.#ids.get(model)
    if (known !== undefined) return known
    const asked = resolveModel(this.http, this.endpoint.apiUrl, model)
    this.#ids.set(model, asked)
    asked.catch(() => this.#ids.delete(model))
    return asked
  }

  /** A trainable model of one's own that starts from the source's head. A name that is taken is `request-refused` with status 409. */
  async fork(source: string, name: string): Promise<CatalogModel> {
    const body = JSON.stringify({ source_model_id: await this.resolve(source), name })
    const { modelReply } = await replies()
    return this.#about(source, () => this.http.send('POST', this.#url('fork'), body, modelReply))
  }

  /** The model's tree, oldest first. */
  async checkpoints(model: string): Promise<readonly Checkpoint[]> {
    const id = await this.resolve(model)
    const { checkpointsReply } = await replies()
    return this.#about(model, () => this.http.get(this.#url(`${id}/checkpoints`), checkpointsReply))
  }

  /** The checkpoint that is served; undefined while that is the model's base. */
  async head(model: string): Promise<Checkpoint | undefined> {
    return (await this.checkpoints(model)).find(({ isActive }) => isActive)
  }

  /** Rolls back to a checkpoint, or branches from it. Rejects with `unknown-checkpoint` too. */
  async setHead(model: string, checkpointId: string): Promise<void> {
    const id = await this.resolve(model)
    const { anyReply } = await replies()
    try {
      await this.http.send('PUT', this.#url(`${id}/head`), JSON.stringify({ checkpoint_id: checkpointId }), anyReply)
    } catch (error) {
      throw statusOf(error) === 404 ? unknownCheckpoint(model, checkpointId, error) : error
    }
  }

  close(): Promise<void> {
    return this.http.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #url(rest: string): string {
    return `${this.endpoint.apiUrl}/v2/models/${rest}`
  }

  async #about<Reply>(model: string, call: () => Promise<Reply>): Promise<Reply> {
    try {
      return await call()
    } catch (error) {
      throw statusOf(error) === 404 ? unknownModel(model, this.endpoint.apiUrl, [], error) : error
    }
  }
}
