import { readReceipt } from './read-receipt.ts'
import type { Receipt } from './receipt.ts'

/** What `--compare` calls it, and errors too. */
export const PUBLISHED_LADDER_NAME = 'published'

/** The file `bench/receipts/hud-ladder-published.csv`, to the byte: in here so that it comes with the package. */
export const PUBLISHED_LADDER_TEXT = `# kind: ladder
# title: published ladder
# made: published with HUD's walkthrough "RL on Daytona sandboxes"
# complete: true
# provider: Daytona's cloud, sandboxes of 1 GiB, made in waves of at most 256
# client: the walkthrough's own, in Python; ready is from create, through session, server and SSH forward, until hello was answered
# columns: as published; *_s in seconds
n,rep,mode,ok,failed,ready_p50_s,ready_p95_s,ready_min_s,ready_max_s,spread_s,wall_s
8,1,cold,8,0,3.28,3.49,2.92,3.5,0.58,7.97
8,2,cold,8,0,2.78,3.19,2.63,3.32,0.69,7.47
8,3,cold,8,0,2.8,2.98,2.68,3.02,0.34,7.46
32,1,cold,32,0,3.16,3.49,2.86,3.55,0.68,7.97
32,2,cold,32,0,3.3,3.62,2.59,3.7,1.11,7.97
32,3,cold,32,0,3.27,4.69,2.94,4.76,1.82,14.51
128,1,cold,128,0,5.05,5.6,4.4,5.82,1.42,15.11
128,2,cold,128,0,5.17,8.99,4.49,9.51,5.02,16.17
128,3,cold,128,0,5.09,6.24,4.43,6.38,1.95,13.6
256,1,cold,256,0,9.85,10.34,8.77,11.34,2.58,42.47
256,2,cold,256,0,10.02,10.67,8.84,11.36,2.52,47.89
256,3,cold,256,0,9.9,11.12,8.37,15.11,6.75,62.11
`

/** The ladder published with HUD's walkthrough of RL on Daytona sandboxes: cold creates, three repetitions at each width. */
export const PUBLISHED_LADDER_RECEIPT: Receipt = readReceipt(PUBLISHED_LADDER_TEXT, PUBLISHED_LADDER_NAME)
