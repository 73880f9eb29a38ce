import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { pytestUnusable } from './errors.ts'
import { PYTHON } from './pytest.ts'

const CHECK_MS = 60_000

/** For `environment.onServe`: throws `pytest-unusable` before anything depends on it. */
export async function requirePytest(): Promise<void> {
  try {
    await promisify(execFile)(PYTHON, ['-I', '-B', '-c', 'import pytest'], { timeout: CHECK_MS })
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    throw pytestUnusable(PYTHON, stderr.trim() || String(error))
  }
}
