/** An answer that is no success. */
export class WireRefusal extends Error {
  readonly status: number

  constructor(status: number, detail: string) {
    super(detail)
    this.status = status
  }
}

export function refuse(status: number, detail: string): never {
  throw new WireRefusal(status, detail)
}
