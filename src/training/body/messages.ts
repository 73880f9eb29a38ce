import type { ErrorData } from '../../errors.ts'

/** What the encoding thread is asked; each question has one answer with its id. All arrays are handed over, not copied. */
export type ToEncoder =
  | {
      readonly type: 'encode-run'
      readonly id: number
      readonly runId: string
      readonly reward: number
      /** The trajectory as it is packed: it is unpacked there. */
      readonly packed: Uint8Array<ArrayBuffer>
    }
  | { readonly type: 'encode-rows'; readonly id: number; readonly rows: readonly Float32Array<ArrayBuffer>[] }

export type FromEncoder =
  | {
      readonly type: 'encoded'
      readonly id: number
      readonly json: Uint8Array<ArrayBuffer>
      /** Samples in it; 0 for rows. */
      readonly datums: number
    }
  | { readonly type: 'failed'; readonly id: number; readonly error: ErrorData }
