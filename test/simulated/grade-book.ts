/** A grade that a grader gave. */
export interface Grade {
  /** The place of the task's group. */
  readonly group: number
  /** Whose answer it was; undefined where the agent left none. */
  readonly seed: number | undefined
}

/** Every score is given once, so that a reward tells where it comes from. */
export class GradeBook {
  readonly #grades = new Map<number, Grade>()

  give(grade: Grade): number {
    const score = this.#grades.size + 1
    this.#grades.set(score, grade)
    return score
  }

  of(score: number): Grade | undefined {
    return this.#grades.get(score)
  }
}
