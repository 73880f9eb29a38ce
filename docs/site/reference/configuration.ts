/** docs/reference/configuration.md: environment variables, task rows, agents' configs, and the options of jobs, trainings and runtimes. */
import { z } from 'zod'
import { chatConfigSchema } from '../../../src/agents/chat/config.ts'
import { claudeConfigSchema } from '../../../src/agents/claude/config.ts'
import { claudeCodeConfigSchema } from '../../../src/agents/claude-code/config.ts'
import { openAiConfigSchema } from '../../../src/agents/openai/config.ts'
import { scriptedConfigSchema } from '../../../src/agents/scripted.ts'
import { VARIABLES } from '../../../src/cli/variables.ts'
import { HEAD } from './cli.ts'
import { readInterface } from './interfaces.ts'
import { code, plain, toTable } from './table.ts'

const TASKS = [
  ['src/taskset/task.ts', 'Task'],
  ['src/taskset/runtime-config.ts', 'RuntimeConfig'],
  ['src/taskset/runtime-config.ts', 'RuntimeResources'],
  ['src/taskset/runtime-config.ts', 'RuntimeLimits'],
] as const
const JOBS = [
  ['src/job/job.ts', 'JobOptions'],
  ['src/job/options.ts', 'RunOptions'],
  ['src/job/options.ts', 'EngineOptions'],
  ['src/job/options.ts', 'PoolOptions'],
] as const
const TRAININGS = [
  ['src/training/loop/options.ts', 'TrainOptions'],
  ['src/training/loop/options.ts', 'TrainShape'],
  ['src/training/loop/options.ts', 'EvaluationShape'],
] as const
const RUNTIMES = [
  ['src/runtimes/local.ts', 'LocalRuntimeOptions'],
  ['src/runtimes/subprocess.ts', 'SubprocessRuntimeOptions'],
  ['src/runtimes/url.ts', 'UrlRuntimeOptions'],
  ['src/runtimes/docker/options.ts', 'DockerRuntimeOptions'],
  ['src/runtimes/daytona/options.ts', 'DaytonaRuntimeOptions'],
  ['src/runtimes/routed.ts', 'RoutedRuntimeOptions'],
] as const
const AGENTS: readonly (readonly [string, () => z.ZodType])[] = [
  ['chat', chatConfigSchema],
  ['claude', claudeConfigSchema],
  ['openai', openAiConfigSchema],
  ['claude-code', claudeCodeConfigSchema],
  ['scripted', scriptedConfigSchema],
]

export function makeConfigurationReference(repository: string): string {
  const interfaces = (list: readonly (readonly [string, string])[]) =>
    list.map(([file, name]) => describeInterface(repository, file, name)).join('\n\n')
  return `${HEAD}

# Configuration reference

What commands take is in [cli.md](cli.md). All of the library, with its functions, is in the API reference that \`npm run docs:api\` writes.

## Environment variables

${toTable(
  ['variable', 'for', 'where it is not set'],
  VARIABLES.map(({ name, meaning, unset = '' }) => [code(name), meaning, unset]),
)}

## Task rows

[tasks.md](../tasks.md) tells what they are for. In a row \`args\` and \`slug\` may be left out, too.

${interfaces(TASKS)}

## Configs of agents

Of \`--agent-config\` and \`createAgent\`; [agents.md](../agents.md) tells which agent is which. What is not listed is refused.

${AGENTS.map(([name, schema]) => describeSchema(name, schema())).join('\n\n')}

## Options of jobs

Of \`Job.start\`, \`taskset.run\` and \`taskset.stream\`.

${interfaces(JOBS)}

## Options of trainings

Of \`train()\`; [training.md](../training.md) tells how it works.

${interfaces(TRAININGS)}

## Options of runtimes

${interfaces(RUNTIMES)}
`
}

function describeInterface(repository: string, file: string, name: string): string {
  const { fields, meaning } = readInterface(repository, file, name)
  const rows = fields.map(field => [
    code(field.isOptional ? `${field.name}?` : field.name),
    code(field.type),
    field.meaning,
  ])
  return [`### ${name}`, ...(meaning === '' ? [] : [meaning]), toTable(['field', 'type', 'meaning'], rows)].join('\n\n')
}

/** The parts of a JSON Schema that are shown. */
const fieldSchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  items: z.looseObject({ type: z.string().optional(), enum: z.array(z.unknown()).optional() }).optional(),
  default: z.unknown().optional(),
  description: z.string().optional(),
})
const documentSchema = z.looseObject({
  properties: z.record(z.string(), fieldSchema),
  required: z.array(z.string()).optional(),
})

function describeSchema(name: string, schema: z.ZodType): string {
  const { properties, required = [] } = documentSchema.parse(
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
  )
  const rows = Object.entries(properties).map(([field, one]) => [
    code(required.includes(field) ? field : `${field}?`),
    describeType(one),
    one.default === undefined ? '' : code(JSON.stringify(one.default)),
    plain(one.description ?? ''),
  ])
  return `### Agent ${name}\n\n${toTable(['field', 'type', 'default', 'meaning'], rows)}`
}

function describeType({ enum: choices, items, type }: z.infer<typeof fieldSchema>): string {
  if (choices !== undefined) return choices.map(choice => code(JSON.stringify(choice))).join(', ')
  if (items?.enum !== undefined) return `list of ${items.enum.map(choice => code(JSON.stringify(choice))).join(', ')}`
  if (items?.type !== undefined) return `list of ${code(items.type)}`
  return code([type ?? 'any'].flat().join(' | '))
}
