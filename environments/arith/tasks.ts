import { add } from './env.ts'

export { env } from './env.ts'
export default Array.from({ length: 16 }, (_, index) => add({ a: 17 * index + 3, b: 5 * index + 8 }))
