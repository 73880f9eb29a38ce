/** deploy/: that its commands, options, variables, files and names are ones that exist, and fit each other. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { VARIABLES } from '../../src/cli/variables.ts'
import { METRICS } from '../../src/telemetry/metrics/catalogue.ts'
import { readVersion } from '../../src/version.ts'
import { repository } from '../support/source-imports.ts'
import { suite } from '../support/suite.ts'
import { readCommandLine } from './command-lines.ts'
import {
  type Container,
  type Pod,
  podOf,
  readCompose,
  readDeploy,
  readKustomization,
  readManifests,
} from './manifests.ts'

const test = suite('deploy')

/** What `make-keys.mjs` leaves; test/deploy/nats-conf.test.ts holds it to that. */
const KEYS = ['ca.crt', 'coordinator.nk', 'observer.nk', 'public.env', 'tls.crt', 'tls.key', 'worker.nk']
const known = new Set(VARIABLES.map(({ name }) => name))
const compose = readCompose()
const kustomization = readKustomization()
const manifests = kustomization.resources.flatMap(readManifests)
const named = (kind: string, name: string) => manifests.find(each => each.kind === kind && each.metadata.name === name)

function podsOf(kind: string, name: string) {
  const found = named(kind, name)
  const pods = found === undefined ? undefined : podOf(found)
  assert.ok(pods !== undefined, `${kind} ${name}`)
  const [container] = pods.spec.containers
  assert.ok(container !== undefined)
  return { ...pods, container, replicas: found?.spec.replicas }
}

const worker = podsOf('Deployment', 'troupe-worker')
const coordinator = podsOf('Job', 'troupe-coordinator')
const nats = podsOf('StatefulSet', 'nats')

const toWords = (command: readonly string[] | string) =>
  typeof command === 'string' ? command.replace(/^\$\{\w+:-(.*)\}$/, '$1').split(' ') : command

test('every command is one that troupe takes, and roles are who they are', async () => {
  const lines = {
    worker: [compose.services.worker?.command ?? '', worker.container.args],
    coordinator: [compose.services.coordinator?.command ?? '', coordinator.container.args],
  }
  for (const line of lines.worker) {
    const { command, options } = await readCommandLine(toWords(line))
    assert.is(command, 'troupe worker')
    assert.is(options.nats, 'tls://nats:4222')
    // What is under way ends or is handed back before the pod or the container is killed, with time to delete its sandboxes.
    for (const seconds of [
      worker.spec.terminationGracePeriodSeconds,
      parseInt(compose.services.worker?.stop_grace_period ?? '', 10),
    ])
      assert.ok(seconds >= Number(options.drain) + 30, `${seconds} s for a drain of ${options.drain} s`)
  }
  for (const line of lines.coordinator) {
    const { command, options } = await readCommandLine(toWords(line))
    assert.is(command, 'troupe eval')
    assert.is(options.cluster, 'tls://nats:4222')
  }
  await readCommandLine(['worker', '--nats', 'tls://nats:4222', '--wide']).then(
    () => assert.unreachable(),
    error => assert.match(error.message, "unknown option '--wide'"),
  )
})

test('the commands of docs/scale-out.md and of the comments are ones that troupe takes, and their files are there', async () => {
  const texts = ['../docs/scale-out.md', 'compose.yaml', 'kustomization.yaml', 'Dockerfile', 'nats/troupe.conf'].map(
    readDeploy,
  )
  const lines = texts.flatMap(text => text.split('\n')).map(line => line.replace(/^# +/, '').replace(/ {2,}#.*$/, ''))
  const called = lines.flatMap(line => /^(?:[A-Z_]+=\S+ )*troupe ((?:worker|train|eval) .+)$/.exec(line)?.[1] ?? [])
  assert.is(called.length, 3, 'the commands are found at all')
  for (const line of called) await readCommandLine(line.trim().split(' '))
  const named = lines.flatMap(line =>
    [...line.matchAll(/(?:^| )(?:node|-f|-c|-k) (deploy(?:\/[\w.-]+)*)/g)].map(([, path = '']) => path),
  )
  assert.ok(named.length > 8)
  assert.equal(
    [...new Set(named)].filter(path => !existsSync(join(repository, path))),
    [],
  )
})

test('every variable is one that Troupe reads, and names a file that is mounted; the key of one role is with that role alone', () => {
  for (const [role, pod] of Object.entries({ worker, coordinator })) {
    const service = compose.services[role]
    assert.ok(service !== undefined)
    const variables = [
      ...Object.entries(service.environment),
      ...pod.container.env.map(({ name, value }) => [name, value ?? null] as const),
    ]
    assert.equal(
      variables.map(([name]) => name).filter(name => !known.has(name)),
      [],
    )
    const files = variables.flatMap(([name, value]) => (name.startsWith('NATS_') ? [value] : []))
    assert.equal(files, [
      `/run/secrets/${role}.nk`,
      '/run/secrets/ca.crt',
      `/etc/troupe/${role}.nk`,
      '/etc/troupe/ca.crt',
    ])
    assert.equal(service.secrets, [`${role}.nk`, 'ca.crt'])
    assert.equal(filesOf(pod.spec, '/etc/troupe'), [`${role}.nk`, 'ca.crt'])
  }
  // Given in the clear on no command line and in no file that is kept.
  for (const path of ['compose.yaml', ...kustomization.resources])
    assert.not.match(readDeploy(path), /\bSU[A-Z2-7]{20}/)
})

/** What lies in a directory of a pod's container, by what the generators put into its secret or configuration. */
function filesOf({ volumes, containers }: Pod, directory: string): readonly string[] {
  const generated = [...kustomization.configMapGenerator, ...kustomization.secretGenerator]
  return containers.flatMap(({ volumeMounts }) =>
    volumeMounts.flatMap(({ name, mountPath, subPath }) => {
      const volume = volumes.find(each => each.name === name)
      const source = volume?.configMap?.name ?? volume?.secret?.secretName
      const files = (generated.find(each => each.name === source)?.files ?? []).map(
        file => file.split('/').at(-1) ?? '',
      )
      if (subPath !== undefined)
        return mountPath === `${directory}/${subPath}` && files.includes(subPath) ? [subPath] : []
      return mountPath === directory ? files : []
    }),
  )
}

test('what the servers’ configurations name is mounted where they look for it', () => {
  const named = (conf: string) => [...readDeploy(conf).matchAll(/_file: (\S+)/g)].map(([, path = '']) => path)
  const server = compose.services.nats
  assert.ok(server !== undefined)
  const mounts = server.volumes.map(volume => volume.split(':')[1])
  for (const path of [
    ...named('nats/troupe.conf'),
    '/etc/nats/users.conf',
    '/data/jetstream',
    toWords(server.command)[1] ?? '',
  ])
    assert.ok(mounts.includes(path), `compose mounts no ${path}`)
  const inPod = [...filesOf(nats.spec, '/etc/nats/tls').map(name => `/etc/nats/tls/${name}`)]
  for (const path of named('nats/cluster.conf')) assert.ok(inPod.includes(path), `the pod has no ${path}`)
  assert.equal(filesOf(nats.spec, '/etc/nats'), ['cluster.conf', 'users.conf'])
  assert.equal(nats.container.args, ['-c', '/etc/nats/cluster.conf'])
})

test('files are there, or made by make-keys.mjs', () => {
  const { configMapGenerator, secretGenerator } = kustomization
  const inside = [
    ...kustomization.resources,
    ...[...configMapGenerator, ...secretGenerator].flatMap(({ files }) => files),
    ...secretGenerator.flatMap(({ envs }) => envs),
    ...Object.values(compose.secrets).map(({ file }) => file),
    ...Object.values(compose.services).flatMap(({ volumes, env_file }) => [
      ...(env_file === undefined ? [] : [env_file]),
      ...volumes.map(volume => volume.split(':')[0] ?? '').filter(source => source.startsWith('.')),
    ]),
  ]
  assert.ok(inside.length > 15)
  const missing = inside.filter(path => {
    const [, key] = /^(?:\.\/)?keys\/(.+)$/.exec(path) ?? []
    return key === undefined ? !existsSync(join(repository, 'deploy', path)) : !KEYS.includes(key)
  })
  assert.equal(missing, [])
  const used = Object.values(compose.services).flatMap(({ secrets }) => secrets)
  assert.equal(
    [...new Set(used)].filter(name => compose.secrets[name] === undefined),
    [],
  )
})

test('three servers find each other, and the compose server is waited for', () => {
  assert.is(nats.replicas, 3)
  const routes: unknown = parse(nats.container.env.find(({ name }) => name === 'NATS_ROUTES')?.value ?? '')
  const service = named('StatefulSet', 'nats')?.spec.serviceName
  assert.ok(named('Service', String(service)) !== undefined)
  assert.equal(
    routes,
    [0, 1, 2].map(place => `nats://nats-${place}.${service}.troupe.svc.cluster.local:6222`),
  )
  for (const role of ['worker', 'coordinator'])
    assert.equal(compose.services[role]?.depends_on, { nats: { condition: 'service_healthy' } })
  assert.match(compose.services.nats?.healthcheck?.test.join(' ') ?? '', /:8222\/healthz/)
})

test('references lead somewhere: secrets, claims, scale target, metric, port of the metrics', () => {
  const generated = [...kustomization.configMapGenerator, ...kustomization.secretGenerator].map(({ name }) => name)
  for (const { spec, container } of [worker, coordinator, nats]) {
    for (const { configMap, secret, persistentVolumeClaim: claim } of spec.volumes) {
      const source = configMap?.name ?? secret?.secretName
      if (source !== undefined) assert.ok(generated.includes(source), source)
      if (claim !== undefined) assert.ok(named('PersistentVolumeClaim', claim.claimName) !== undefined)
    }
    const asked = container.env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? [])
    for (const { name, optional } of [...asked, ...container.envFrom.map(each => each.secretRef)])
      assert.ok(generated.includes(name) || optional === true, name)
    for (const { name } of container.volumeMounts) assert.ok(hasVolume(spec, name), name)
  }
  const [scaled] = readManifests('kubernetes/keda.yaml')
  const text = JSON.stringify(scaled)
  assert.is(named('Deployment', 'troupe-worker')?.metadata.name, /"scaleTargetRef":\{"name":"([\w-]+)"/.exec(text)?.[1])
  assert.match(text, METRICS.workersWanted.name)
  const port = portOf(coordinator.container)
  assert.equal(coordinator.container.ports, [{ name: 'metrics', containerPort: port }])
  assert.is(coordinator.metadata.annotations['prometheus.io/port'], String(port))
  assert.equal(kustomization.images, [{ name: 'troupe', newTag: readVersion() }])
})

function hasVolume({ volumes }: Pod, name: string): boolean {
  const claims = JSON.stringify(named('StatefulSet', 'nats')?.spec.volumeClaimTemplates)
  return volumes.some(each => each.name === name) || claims.includes(`"name":"${name}"`)
}

function portOf({ args }: Container): number {
  return Number(args[args.indexOf('--metrics') + 1]?.split(':')[1])
}

test('the image copies what a clean clone has and a build is sent, and what it needs is built', () => {
  const text = readDeploy('Dockerfile').replaceAll(/\\\n\s*/g, '')
  const [build = '', last = ''] = text.split(/^FROM .*$/m).slice(1)
  const sent = readFileSyncLines('.dockerignore')
    .filter(line => line.startsWith('!'))
    .map(line => line.slice(1))
  const copied = [...`${build}\n${last}`.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list = '']) =>
    list.split(' ').map(path => path.replace(/^\.\//, '')),
  )
  assert.equal(
    copied.filter(path => !sent.includes(path)),
    [],
  )
  assert.ok(build.indexOf('RUN npm ci') < build.indexOf('COPY src'))
  assert.match(last, /\nUSER node\n/)
  assert.match(last, /\nENTRYPOINT \["tini", "--", "troupe"\]\n/)
  // The assemblies are loaded with the actors.
  assert.match(last, /COPY --from=build \/app\/dist\/actors /)
  for (const { build: from } of Object.values(compose.services))
    if (from !== undefined) assert.ok(existsSync(join(repository, 'deploy', from.context, from.dockerfile)))
})

const readFileSyncLines = (path: string): readonly string[] => readDeploy(`../${path}`).split('\n')

test.run()
