import { hasTag } from '../../errors.ts'
import { policyClosed } from '../errors.ts'
import type { Sampler } from '../policy.ts'

/**
 * Several samplers as one: a request goes to the one with the fewest under way, weights go to all. One whose thread is lost gets no more;
 * with none left everything rejects with `policy-thread-lost`.
 */
export function makeSamplers(samplers: readonly Sampler[]): Sampler {
  const members = samplers.map(sampler => ({ sampler, underWay: 0 }))
  let left = members
  let lost: unknown = policyClosed('sampler')

  async function using<Result>(member: (typeof members)[number], work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (hasTag(error, 'policy-thread-lost')) {
        left = left.filter(each => each !== member)
        lost = error
      }
      throw error
    }
  }

  return {
    async load(weights, version) {
      const loads = left.map(member => using(member, () => member.sampler.load(weights, version)))
      const failed = (await Promise.allSettled(loads)).flatMap(end => (end.status === 'rejected' ? [end.reason] : []))
      const serious = failed.find(error => !hasTag(error, 'policy-thread-lost'))
      if (serious !== undefined) throw serious
      if (left.length === 0) throw lost
    },
    async sample(request, signal) {
      const [first, ...others] = left
      if (first === undefined) throw lost
      const member = others.reduce((least, each) => (each.underWay < least.underWay ? each : least), first)
      member.underWay += 1
      try {
        return await using(member, () => member.sampler.sample(request, signal))
      } finally {
        member.underWay -= 1
      }
    },
    async close() {
      await Promise.all(members.map(({ sampler }) => sampler.close()))
    },
  }
}
