import { type Command, InvalidArgumentError } from 'commander'
import { numberFromZero, wholeNumberFrom } from './arguments.ts'

/** Which model acts, and how it is asked, as options say it. */
export interface ModelArguments {
  readonly model?: string
  /** `embedded`, `hud`, or the module of a trainer, `trainer.ts` or `trainer.ts#name`. */
  readonly trainer: string
  readonly base?: string
  readonly policies: string
  readonly samplers?: number
  readonly policyHost?: string
  readonly maxSteps?: number
  readonly temperature?: number
  readonly maxTokens?: number
}

export const POLICIES_DIRECTORY = '.troupe/policies'
export const DEFAULT_BASE = 'environments/calc/policy.base'

export function addModelOptions(command: Command): Command {
  return command
    .option('--model <slug>', "the model's slug; the embedded policy is named for its job unless this says otherwise")
    .option(
      '--trainer <name>',
      'embedded: a small policy in this process, no key; hud: the training service; trainer.ts: your own',
      toTrainer,
      'embedded',
    )
    .option('--base <file>', 'what the embedded policy starts from (default: policy.base beside the tasks)')
    .option('--policies <dir>', 'where checkpoints of embedded policies are kept', POLICIES_DIRECTORY)
    .option('--samplers <n>', 'worker threads that sample the embedded policy', wholeNumberFrom(1))
    .option(
      '--policy-host <address>',
      'where the embedded policy listens, an address of this machine that workers reach (default: 127.0.0.1); it asks for no key',
    )
    .option('--max-steps <n>', 'turns of the agent in one rollout at most', wholeNumberFrom(1))
    .option('--temperature <t>', 'of sampling; 0 takes the likeliest token', numberFromZero)
    .option('--max-tokens <n>', 'tokens of one reply at most', wholeNumberFrom(1))
}

/** A name with a mistake in it is not taken for a file. */
function toTrainer(text: string): string {
  if (text === 'embedded' || text === 'hud' || /\.[mc]?[jt]s(#\w+)?$/.test(text)) return text
  throw new InvalidArgumentError('Allowed choices are embedded, hud, or a module: trainer.ts, trainer.ts#name.')
}
