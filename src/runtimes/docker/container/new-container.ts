import type Docker from 'dockerode'
import type { IdSource } from '../../../ids.ts'
import { toOwnerWord } from '../../../owner.ts'
import type { ProvisionRequest } from '../../runtime.ts'
import { CREATE_LABEL, toContainerName, toEngineLabels } from '../labels.ts'
import type { DockerSettings } from '../settings.ts'

/** What all containers of a runtime have in common. */
export interface ContainerKind
  extends Pick<
    DockerSettings,
    'command' | 'port' | 'variables' | 'memoryBytes' | 'cpus' | 'pids' | 'network' | 'namespaces'
  > {
  /** The image's id. */
  readonly image: string
  /** On the engine's machine. */
  readonly publishOn: string
  readonly token: string | undefined
  /** GPUs of one container, whichever they are. Undefined: none. */
  readonly gpus: number | undefined
}

/** A container as it is to be made. */
export interface NewContainer {
  readonly name: string
  /** As they are called at the engine. */
  readonly labels: Readonly<Record<string, string>>
  readonly body: Docker.ContainerCreateOptions
}

/** Enough to see why a server died, and no way to fill the disk of the engine's machine. */
const LOG = { Type: 'json-file', Config: { 'max-size': '8m', 'max-file': '1' } }

/**
 * Pure but for the ids. A label names the create, so that what is removed later is told from whatever else has the name. A command of ours replaces the image's
 * own and what would go before it, and runs under an init, since the image's may have gone with them.
 */
export function toNewContainer(
  { id, labels }: Pick<ProvisionRequest, 'id' | 'labels'>,
  kind: ContainerKind,
  ids: IdSource,
): NewContainer {
  const { command, port, variables, memoryBytes, cpus, gpus, network, token } = kind
  const all = {
    ...toEngineLabels({ owner: toOwnerWord(), ...labels, sandbox: id }),
    [CREATE_LABEL]: ids.hex(8),
  }
  const name = toContainerName(id)
  const exposed = `${port}/tcp`
  return {
    name,
    labels: all,
    body: {
      name,
      Image: kind.image,
      Labels: all,
      Env: [
        ...Object.entries(variables).map(([variable, value]) => `${variable}=${value}`),
        ...(token === undefined ? [] : [`TROUPE_SERVE_TOKEN=${token}`]),
      ],
      ExposedPorts: { [exposed]: {} },
      ...(command === undefined ? {} : { Entrypoint: ['/bin/sh', '-c', command], Cmd: [] }),
      HostConfig: {
        PortBindings: { [exposed]: [{ HostIp: kind.publishOn, HostPort: '' }] },
        PidsLimit: kind.pids,
        LogConfig: LOG,
        ...(command === undefined ? {} : { Init: true }),
        ...(memoryBytes === undefined ? {} : { Memory: memoryBytes, MemorySwap: memoryBytes }),
        ...(cpus === undefined ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
        ...(gpus === undefined ? {} : { DeviceRequests: [{ Driver: '', Count: gpus, Capabilities: [['gpu']] }] }),
        ...(network === undefined ? {} : { NetworkMode: network }),
        ...(kind.namespaces ? OPEN_TO_NAMESPACES : {}),
      },
    },
  }
}

/** What `docker run --security-opt` does with seccomp=unconfined, apparmor=unconfined and systempaths=unconfined. */
const OPEN_TO_NAMESPACES = {
  SecurityOpt: ['seccomp=unconfined', 'apparmor=unconfined'],
  MaskedPaths: [],
  ReadonlyPaths: [],
}
