/**
 * The run to be laid under ours: HUD's walkthrough of reinforcement learning on Daytona sandboxes, as it published the rows of
 * its `train_run.json`. Qwen3.5-4B, ten steps of 16 bug variants × 8 attempts, importance sampling, learning rate 1e-5; eight more
 * variants were held out and measured before and after.
 */
export const PUBLISHED = {
  taskset: 'calc',
  model: 'Qwen3.5-4B',
  columns: [
    'step',
    'runs',
    'solved',
    'pass_rate',
    'errored',
    'group_spread',
    'samples',
    'tokens',
    'rollout_s',
    'loss',
    'datums',
    'chunks',
    'train_s',
    'optim_step',
  ],
  /** One row a step, in the order of `columns`. */
  rows: [
    [0, 128, 47, 0.3672, 0, 0.3818, 1257, 222111, 117.3, -5962.565, 1097, 8, 106.8, 1],
    [1, 128, 49, 0.3828, 0, 0.4015, 1263, 207297, 150.0, -7311.4616, 1183, 8, 95.3, 2],
    [2, 128, 45, 0.3516, 0, 0.357, 1264, 200866, 147.4, -3977.6133, 1024, 8, 86.9, 3],
    [3, 128, 57, 0.4453, 0, 0.4276, 1252, 215978, 154.3, -4792.0817, 1252, 8, 97.3, 4],
    [4, 128, 60, 0.4688, 0, 0.3919, 1260, 216219, 119.1, -4851.6556, 1180, 8, 92.9, 5],
    [5, 128, 71, 0.5547, 0, 0.3742, 1232, 220862, 122.2, -4223.9484, 1076, 8, 90.9, 6],
    [6, 128, 81, 0.6328, 0, 0.436, 1240, 216717, 110.6, -4265.8137, 1240, 8, 96.5, 7],
    [7, 128, 79, 0.6172, 0, 0.4175, 1213, 221413, 123.3, -6306.1948, 1135, 8, 97.3, 8],
    [8, 128, 93, 0.7266, 0, 0.3422, 1189, 213918, 149.3, -3653.8206, 966, 8, 90.2, 9],
    [9, 128, 85, 0.6641, 0, 0.3321, 1170, 218654, 139.3, -6794.3517, 894, 8, 84.5, 10],
  ],
  /** Pass rates of the held-out variants. */
  heldOut: [
    { afterSteps: 0, passRate: 0.359 },
    { afterSteps: 10, passRate: 0.812 },
  ],
} as const

export type PublishedColumn = (typeof PUBLISHED.columns)[number]
export type PublishedRow = Readonly<Record<PublishedColumn, number>>

/** Other tasks than its own are not to be compared with it. */
export function isPublishedTask(taskset: string): boolean {
  return taskset === PUBLISHED.taskset
}

/** Its rows as the objects that our own receipts hold. */
export function publishedSteps(): readonly PublishedRow[] {
  return PUBLISHED.rows.map(row => ({
    step: row[0],
    runs: row[1],
    solved: row[2],
    pass_rate: row[3],
    errored: row[4],
    group_spread: row[5],
    samples: row[6],
    tokens: row[7],
    rollout_s: row[8],
    loss: row[9],
    datums: row[10],
    chunks: row[11],
    train_s: row[12],
    optim_step: row[13],
  }))
}
