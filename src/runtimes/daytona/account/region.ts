/** The region that was asked for: by the option, else by `DAYTONA_TARGET`. A variable that is set to nothing is not set. */
export function toRegion(asked: string | undefined, variables: NodeJS.ProcessEnv = process.env): string | undefined {
  const region = (asked ?? variables.DAYTONA_TARGET)?.trim()
  return region === '' ? undefined : region
}
