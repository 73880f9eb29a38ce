import type { FeedRun } from '../feed/messages.ts'
import type { Work } from '../ladder/level.ts'
import type { LadderFigure, LadderLevelRow } from '../receipts/ladder-rows.ts'

/**
 * What the dashboard's server answers, as JSON unless it says otherwise. All of it is read with GET; nothing can be changed.
 *
 * `/`                  the page: `DOCUMENT` of `page/document.ts`, and its `STYLE` at `/page/style.css`. A `<script type="importmap">` in it may be inline.
 * `/page/NAME.js`      the page's compiled modules, one file each, folders kept. They import nothing but types from outside their folder.
 * `/lib/NAME.js`       libraries from node_modules: `echarts`, `preact`, `preact-hooks`, `preact-jsx-runtime`. They import one another by their bare names.
 * `/feed`              server-sent events without names: `data` is a `FeedMessage` of `src/feed/messages.ts`. First a `state`; another follows where ticks were
 *                      left out, for instance because the page was too slow. `?job=ID` for another job of the journal. 503: too many watch.
 * `/runs/:runId`       `RunReply`; the beginning of an id is enough where only one has it
 * `/jobs`              `JobsReply`
 * `/ladders`           `LaddersReply`
 * `/ladders/:name`     the ladder's own page, HTML that needs nothing else
 *
 * What is refused has the status 400 to 503 and a `Refused`. Other sites' pages are let in nowhere; styles and scripts come from the server alone, with
 * `style` attributes allowed and inline scripts not. Where a token is wanted, the page was opened with it and has a cookie that its requests carry unasked.
 */
export const ROUTES = {
  page: '/',
  feed: '/feed',
  run: '/runs/:runId',
  jobs: '/jobs',
  ladders: '/ladders',
  ladder: '/ladders/:name',
} as const

/** Every refusal. `message` says what to do. */
export interface Refused {
  readonly error: { readonly tag: string; readonly message: string }
}

/** One run as a conversation. Known secrets are hidden in its texts. */
export interface RunReply {
  readonly run: FeedRun & {
    readonly jobId: string
    readonly environment: string
    readonly task: { readonly id: string; readonly args: unknown }
    readonly agent: string
    readonly seed: number
    /** Of the packed trajectory. */
    readonly bytes: number
  }
  /** What the environment asked: a text, or messages as they came. */
  readonly prompt: unknown
  readonly turns: readonly TurnReply[]
  readonly answer: unknown
  /** The grader's whole reply; null without a grade. */
  readonly grade: Readonly<Record<string, unknown>> | null
  /** Of a task with a verifier: the task's own grade. */
  readonly actorGrade?: Readonly<Record<string, unknown>> | null
  /** Whose vocabulary the token texts are in: `embedded`, or null where it is not known and they are absent. */
  readonly tokenizer: 'embedded' | null
}

/** One turn of a run. */
export interface TurnReply {
  readonly role: 'assistant' | 'tool'
  readonly text: string
  readonly toolCalls?: readonly ToolCallReply[]
  /** Milliseconds since the agent's phase began, and how long the turn took. */
  readonly atMs: number
  readonly tookMs: number
  readonly tokens?: TokensReply
  /** Which weights put it out. */
  readonly version?: string
}

/** One call of a tool. */
export interface ToolCallReply {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly result: string
  readonly isError: boolean
}

/** Side by side: the n-th of `output`, `outputTexts` and `logprobs` belong together. */
export interface TokensReply {
  /** Ids of the whole prompt of this turn: what was said before it, too. */
  readonly prompt: readonly number[]
  readonly output: readonly number[]
  /** Natural logarithms; null where it was no finite number. */
  readonly logprobs: readonly (number | null)[]
  /** Each token's own text. Absent without a tokenizer. */
  readonly promptTexts?: readonly string[]
  readonly outputTexts?: readonly string[]
}

/** Jobs of the journal, newest first, and which of them `/feed` shows unasked. */
export interface JobsReply {
  readonly shown: string
  readonly jobs: readonly JobReply[]
}

/** One job of the journal. */
export interface JobReply {
  readonly jobId: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly seed: number
  readonly runs: number
  readonly graded: number
  readonly meanReward: number | null
  /** Steps of a training that are over; 0 for what is none. */
  readonly steps: number
}

/** The ladder receipts that were found, by name. */
export interface LaddersReply {
  readonly ladders: readonly LadderReply[]
  /** Files that look like receipts and could not be read, and why. */
  readonly unreadable: readonly { readonly file: string; readonly message: string }[]
}

/** One ladder. */
export interface LadderReply {
  /** For `/ladders/:name`: the file's name without its ending, or `published`. */
  readonly name: string
  readonly title: string
  /** What the receipt says of itself: when, on what, with which command. */
  readonly about: Readonly<Record<string, string>>
  /** Each strategy and width, over its repetitions, from narrow to wide. */
  readonly points: readonly LadderPointReply[]
  /** Every row of the table, as measured. Figures that were not measured are absent. */
  readonly rows: readonly LadderLevelRow[]
}

/** One strategy at one width. */
export interface LadderPointReply {
  readonly work: Work
  readonly strategy: string
  readonly n: number
  readonly repetitions: number
  readonly ok: number
  readonly failed: number
  /** Medians over the repetitions, by column: `ready_p50_s`, `ready_p95_s`, … */
  readonly figures: Readonly<Partial<Record<LadderFigure, number>>>
}
