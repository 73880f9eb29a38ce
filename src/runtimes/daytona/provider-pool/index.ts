export { isAnchor, judgeAnchor, readAnchor } from './anchor-labels.ts'
export { deletePool } from './let-go.ts'
export { makeProviderPool, type ProviderPoolOptions } from './provider-pool.ts'
export { anchorsOf } from './whose-pool.ts'
