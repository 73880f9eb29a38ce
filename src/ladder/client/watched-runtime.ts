import { type ErrorData, toErrorData } from '../../errors.ts'
import type { Runtime } from '../../runtimes/runtime.ts'

/** The runtime as it is, and whoever wants to know hears of each create that fails, those that the pool tries again included; not of those that it calls off itself. */
export function watchProvisions(runtime: Runtime, failed: (error: ErrorData) => void): Runtime {
  const { checkTasks, configure, diagnose, kindOf, list } = runtime
  return {
    name: runtime.name,
    ...(runtime.forks === undefined ? {} : { forks: runtime.forks }),
    ...(runtime.providerPool === undefined ? {} : { providerPool: runtime.providerPool }),
    ...(runtime.creates === undefined ? {} : { creates: runtime.creates }),
    ...(runtime.prewarms === undefined ? {} : { prewarms: runtime.prewarms }),
    ...(kindOf === undefined ? {} : { kindOf: task => kindOf.call(runtime, task) }),
    ...(configure === undefined ? {} : { configure: task => configure.call(runtime, task) }),
    ...(checkTasks === undefined ? {} : { checkTasks: tasks => checkTasks.call(runtime, tasks) }),
    ...(diagnose === undefined ? {} : { diagnose: id => diagnose.call(runtime, id) }),
    ...(list === undefined ? {} : { list: () => list.call(runtime) }),
    preflight: plan => runtime.preflight(plan),
    close: () => runtime.close(),
    async provision(request) {
      try {
        return await runtime.provision(request)
      } catch (error) {
        if (!request.signal.aborted) failed(toErrorData(error))
        throw error
      }
    },
  }
}
