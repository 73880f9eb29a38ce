import { Observable, type Subscription } from 'rxjs'
import type { Group } from '../../rollout/group.ts'
import type { GroupStream } from '../../stream/group-stream.ts'
import { NO_SPREAD } from './close-step.ts'
import type { InspectedGroup } from './inspect-group.ts'
import type { Replacement } from './schedule.ts'

export interface StepGroupsOptions {
  /** The groups that the step begins with. */
  readonly first: () => GroupStream
  readonly replacements: readonly Replacement[]
  readonly replace: (replacement: Replacement) => GroupStream
  readonly inspect: (group: Group) => InspectedGroup
}

/**
 * All groups of a step as they end. The n-th of them without reward spread brings the n-th replacement, so that which groups are
 * added depends on how many are replaced, and not on which ended first.
 */
export function stepGroups({ first, inspect, replace, replacements }: StepGroupsOptions): Observable<InspectedGroup> {
  return new Observable(subscriber => {
    const subscriptions = new Set<Subscription>()
    const left = [...replacements]
    let open = 0
    function follow(stream: GroupStream): void {
      open += 1
      const subscription = stream.subscribe({
        next(group) {
          const inspected = inspect(group)
          const { verdict } = inspected
          const replacement = verdict.type === 'drop' && verdict.reason === NO_SPREAD ? left.shift() : undefined
          if (replacement !== undefined) follow(replace(replacement))
          subscriber.next(inspected)
        },
        error: error => subscriber.error(error),
        complete() {
          open -= 1
          if (open === 0) subscriber.complete()
        },
      })
      subscriptions.add(subscription)
    }
    follow(first())
    return () => {
      for (const subscription of subscriptions) subscription.unsubscribe()
    }
  })
}
