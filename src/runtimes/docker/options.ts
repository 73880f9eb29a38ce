import type { Clock } from '../../clock.ts'

/** What containers are made from, what they may use and how they are reached; all of it has a default. */
export interface DockerRuntimeOptions {
  /** An image that the engine has, or else pulls: `troupe-calc`, `ghcr.io/us/calc:2`. Not beside `dockerfile`. */
  readonly image?: string
  /** The Dockerfile that the image is built from at the first sandbox; what the engine has built before, it does not build again. Default: `Dockerfile.hud`. */
  readonly dockerfile?: string
  /** What the Dockerfile's `COPY` is relative to. Default: the folder it is in. */
  readonly context?: string
  /** Where the engine is: `unix:///path` or `tcp://host:port`. Default: `DOCKER_HOST`, else `unix:///var/run/docker.sock`. */
  readonly host?: string
  /** What serves, as a shell reads it, listening on `port` of every interface. Default: the image's own command. */
  readonly command?: string
  /** Default 8765. */
  readonly port?: number
  /**
   * The address of the engine's machine that the port is published on, at a port of the engine's choice, and that is then dialled. Default 127.0.0.1, which
   * only an engine on this machine can be reached by.
   */
  readonly publishOn?: string
  /**
   * Gives the server a token in `TROUPE_SERVE_TOKEN` and shows it with each connection, so that others who reach the port do not get in. For commands with
   * `troupe serve` that do not say `--insecure`. Default false.
   */
  readonly withToken?: boolean
  /** Variables for the server. */
  readonly variables?: Readonly<Record<string, string>>
  /** Of one container, swap included. Default: no limit. */
  readonly memoryBytes?: number
  /** CPUs of one container, 0.5 for a half. Default: no limit. */
  readonly cpus?: number
  /** Processes and threads of one container. Default 2,048. */
  readonly pids?: number
  /** A network of the engine's that publishes ports, so not `none`, `host` or an internal one. Default: the engine's own. */
  readonly network?: string
  /**
   * Lifts the engine's seccomp and AppArmor profiles and shows /proc as it is, which bubblewrap needs within a container. Default: only with a `dockerfile`.
   */
  readonly namespaces?: boolean
  /** From a container's start until its environment has answered. Default 60,000. */
  readonly startDeadlineMs?: number
  /** Told each line of a pull or a build. Default: published on the channel `troupe:sandbox`. */
  readonly onImageLog?: (line: string) => void
  readonly clock?: Clock
}
