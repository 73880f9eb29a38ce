import { systemClock } from '../../../src/clock.ts'
import { openLmdbJournal } from '../../../src/journal/lmdb-journal.ts'
import { unpackTrajectory } from '../../../src/rollout/pack.ts'

/** All that a journal has of its one job, by place in the plan, without ids that differ from job to job and without times. Throws where it has more jobs. */
export async function readContent(directory: string) {
  const journal = await openLmdbJournal({ directory, clock: systemClock, role: 'owner', readOnly: true })
  try {
    const [job, ...others] = await journal.jobs()
    if (job === undefined || others.length > 0) throw new Error(`${1 + others.length} jobs in ${directory}, not one`)
    const runs: Record<string, unknown> = {}
    // Weights have random names: which of them it was is told by their order.
    const versions: (string | undefined)[] = [undefined]
    const order = (version: string | undefined) =>
      versions.includes(version) ? versions.indexOf(version) : versions.push(version) - 1
    for await (const header of journal.runs(job.jobId)) {
      const { step, task, member, index, outcome, reward, stopReason, seed, agent, attempt, bytes } = header
      const { turns, ...rest } = unpackTrajectory(journal.trajectory(header.runId))
      const said = turns.map(({ atMs: _at, tookMs: _took, version, ...turn }) => ({ ...turn, version: order(version) }))
      const place = `step ${step} ${task.slug} ${member}`
      if (place in runs) throw new Error(`${place} is there twice`)
      // Times are in the trajectory, and a number takes as many bytes as it is long.
      const size = said.length === 0 ? bytes : undefined
      // An embedded policy is called like its job.
      const name = agent === job.jobId ? 'the policy' : agent
      runs[place] = { index, outcome, reward, stopReason, seed, agent: name, attempt, size, ...rest, turns: said }
    }
    const groups: Record<string, unknown> = {}
    for await (const { step, task, end, runs, consumption, reason } of journal.groups(job.jobId)) {
      const name = `step ${step} ${task.slug}`
      if (name in groups) throw new Error(`${name} is there twice`)
      groups[name] = { end, runs: runs.map(({ member, reward }) => [member, reward]), consumption, reason }
    }
    return { seed: job.seed, settings: job.settings, runs, groups }
  } finally {
    await journal.close()
  }
}
