import { testKillsWhile } from './kill-points.ts'

testKillsWhile('starting')
