import { runGroup } from '../run-pages.ts'

runGroup('readme')
