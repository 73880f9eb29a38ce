import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { hide } from '../../redact.ts'
import { replaceFile } from '../../replace-file.ts'
import { notAReceipt, receiptNotWritten } from './errors.ts'
import { PUBLISHED } from './published.ts'
import type { Receipt } from './receipt.ts'

/** `train_run.json`: valid JSON with a line for each step and evaluation, so that two of them can be compared line by line. */
export function formatReceipt(receipt: Receipt): string {
  const lines = Object.entries(receipt).map(([key, value]) => {
    const isRows = key === 'steps' || key === 'evaluations'
    if (!isRows || !Array.isArray(value) || value.length === 0)
      return `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`
    return `  ${JSON.stringify(key)}: [\n${value.map(row => `    ${JSON.stringify(row)}`).join(',\n')}\n  ]`
  })
  return `{\n${lines.join(',\n')}\n}\n`
}

/** Replaces the file in one move: a reader sees the old text or the new, never a part. Rejects with `receipt-not-written`. */
export async function writeWhole(path: string, text: string): Promise<void> {
  try {
    await replaceFile(path, hide(text))
  } catch (error) {
    throw receiptNotWritten(path, error)
  }
}

/** Rejects with `not-a-receipt` naming what is missing, or with the file system's error. */
export async function readReceipt(path: string): Promise<Receipt> {
  return parseReceipt(path, await readFile(path, 'utf8'))
}

export function parseReceipt(path: string, text: string): Receipt {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw notAReceipt(path, [`it is not JSON (${error instanceof Error ? error.message : String(error)})`])
  }
  const { success, data, error } = RECEIPT.safeParse(value)
  if (success) return data
  throw notAReceipt(
    path,
    error.issues.map(issue => `${issue.path.join('.') || 'the document'}: ${issue.message}`),
  )
}

const COUNTS = z.record(z.string(), z.number())

const STEP = z.object({
  step: z.number(),
  runs: z.number(),
  solved: z.number(),
  pass_rate: z.number(),
  errored: z.number(),
  group_spread: z.number(),
  samples: z.number(),
  tokens: z.number(),
  rollout_s: z.number(),
  loss: z.number().nullable(),
  datums: z.number(),
  chunks: z.number(),
  train_s: z.number(),
  optim_step: z.number().nullable(),
  status: z.enum(['trained', 'skipped']),
  reason: z.string().nullable(),
  checkpoint_id: z.string().nullable(),
  planned_groups: z.number(),
  trained_groups: z.number(),
  without_spread: z.number(),
  added_groups: z.number(),
  dropped: COUNTS,
  learning_rate: z.number(),
  versions: COUNTS,
  wall_s: z.number(),
})

const EVALUATION = z.object({
  after_steps: z.number(),
  split: z.string(),
  runs: z.number(),
  solved: z.number(),
  pass_rate: z.number(),
  errored: z.number(),
  wall_s: z.number(),
  interval: z.tuple([z.number(), z.number()]),
  versions: COUNTS,
})

const RECEIPT = z.object({
  name: z.string(),
  model: z.string(),
  trainer: z.string(),
  seed: z.number(),
  settings: z.record(z.string(), z.unknown()),
  made: z.object({ version: z.string(), node: z.string(), cores: z.number(), platform: z.string() }),
  columns: z.array(z.enum(PUBLISHED.columns)),
  steps: z.array(STEP),
  evaluations: z.array(EVALUATION),
})
