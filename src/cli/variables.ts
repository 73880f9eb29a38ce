/** The environment variables that the package reads. `troupe --help` and docs/reference/configuration.md list them; a test reads the sources for others. */

export interface Variable {
  readonly name: string
  readonly meaning: string
  /** In words; absent: none. */
  readonly unset?: string
}

export const VARIABLES: readonly Variable[] = [
  {
    name: 'HUD_API_KEY',
    meaning: "HUD's gateway, training service and platform; turns on reports of jobs",
    unset: 'nothing of HUD’s is asked',
  },
  { name: 'HUD_API_URL', meaning: "HUD's platform and catalogue of models", unset: 'https://api.hud.ai' },
  { name: 'HUD_RL_URL', meaning: "HUD's training service", unset: 'https://rl.hud.ai' },
  { name: 'HUD_GATEWAY_URL', meaning: "HUD's gateway to models, without `/v1`", unset: 'https://inference.hud.ai' },
  {
    name: 'HUD_TELEMETRY_ENABLED',
    meaning: '`false`, `0`, `no` or `off`: commands report nothing',
    unset: 'they report where there is a key',
  },
  { name: 'HUD_TELEMETRY_URL', meaning: 'where reports go', unset: '`/v3/api` of HUD_API_URL, or HUD’s own' },
  { name: 'HUD_WEB_URL', meaning: 'where people look at reports', unset: 'HUD_API_URL, or https://hud.ai' },
  { name: 'OPENAI_API_KEY', meaning: 'the `openai` agent, and chat completions at OPENAI_BASE_URL' },
  { name: 'OPENAI_BASE_URL', meaning: 'a service that speaks as OpenAI’s does, with `/v1`', unset: 'OpenAI’s own' },
  { name: 'ANTHROPIC_API_KEY', meaning: 'the agents `claude` and `claude-code`' },
  { name: 'ANTHROPIC_BASE_URL', meaning: 'a service that speaks as Anthropic’s does', unset: 'Anthropic’s own' },
  { name: 'TINKER_API_KEY', meaning: 'the trainer of `openTinkerTrainer`' },
  { name: 'TINKER_BASE_URL', meaning: 'its service', unset: 'Tinker’s own' },
  { name: 'DAYTONA_API_KEY', meaning: 'the daytona runtime and `troupe reap`' },
  { name: 'DAYTONA_API_URL', meaning: 'Daytona’s API, or an emulator’s', unset: 'Daytona’s own' },
  { name: 'DAYTONA_TARGET', meaning: 'the region of sandboxes', unset: 'the account’s' },
  { name: 'DOCKER_HOST', meaning: 'the Docker engine: `unix://` or `tcp://`', unset: 'unix:///var/run/docker.sock' },
  { name: 'DOCKER_TLS_VERIFY', meaning: 'anything: `tcp://` by TLS', unset: 'in the clear' },
  {
    name: 'DOCKER_CERT_PATH',
    meaning: 'where `ca.pem`, `cert.pem` and `key.pem` are',
    unset: '`.docker` in the home directory',
  },
  { name: 'NATS_CREDS', meaning: 'the credentials file (JWT and seed) of this process at NATS' },
  { name: 'NATS_NKEY', meaning: 'the file with the seed of its NKey, in the place of NATS_CREDS' },
  { name: 'NATS_CA', meaning: 'the authorities of the servers’ certificates, in PEM; TLS is a must then' },
  { name: 'NATS_CERT', meaning: 'the certificate of this process, where the servers verify their clients' },
  { name: 'NATS_KEY', meaning: 'its key' },
  { name: 'TROUPE_SERVE_TOKEN', meaning: 'the token of `troupe serve`, and of `--url` for its clients' },
  {
    name: 'TROUPE_DASHBOARD_TOKEN',
    meaning: 'the token that whoever looks at the dashboard must show, of 16 characters at least',
    unset: 'none on loopback, a new one beyond it',
  },
  { name: 'NO_COLOR', meaning: 'anything: no colours' },
]

/** For the end of a help text. */
export function describeVariables(): string {
  const width = Math.max(...VARIABLES.map(({ name }) => name.length))
  const lines = VARIABLES.map(({ name, meaning, unset }) => {
    const told = unset === undefined ? meaning : `${meaning} (unset: ${unset})`
    return `  ${name.padEnd(width)}  ${told.replaceAll('`', '')}`
  })
  return `Environment variables:\n${lines.join('\n')}`
}
