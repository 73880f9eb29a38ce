import { testKillsWhile } from './kill-points.ts'

testKillsWhile('rolling out')
