import { testKillsWhile } from './kill-points.ts'

testKillsWhile('training')
