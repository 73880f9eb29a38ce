import type { FastifyInstance } from 'fastify'
import { refused } from './errors.ts'
import type { Site } from './site.ts'
import type { RateLimits } from './throttle.ts'

/** The one organisation of the key: its regions, what it may use and what it uses. */
export function addOrganizationRoutes(app: FastifyInstance, site: Site, limits: RateLimits): void {
  const { context, organizationId, sandboxes, snapshots } = site
  const { latency, regions, quota } = context
  const since = new Date(context.wall.wallTime()).toISOString()

  app.get('/api/organizations', async () => {
    await latency.take('call')
    return [
      {
        id: organizationId,
        name: 'emulator',
        personal: true,
        suspended: false,
        defaultRegionId: regions[0],
        authenticatedRateLimit: limits.authenticated,
        sandboxCreateRateLimit: limits['sandbox-create'],
        sandboxLifecycleRateLimit: limits['sandbox-lifecycle'],
      },
    ]
  })

  app.get('/api/regions', async () => {
    await latency.take('call')
    return regions.map(id => ({
      id,
      name: id,
      organizationId: null,
      regionType: 'shared',
      createdAt: since,
      updatedAt: since,
    }))
  })

  app.get<{ Params: { id: string } }>('/api/organizations/:id/usage', async ({ params }) => {
    if (params.id !== organizationId) throw refused(403, 'Request to an organization that is not yours')
    await latency.take('call')
    const { cpu, memory, disk } = sandboxes.usage
    return {
      // One quota for the whole account, told for each region.
      regionUsage: regions.map(regionId => ({
        regionId,
        sandboxClass: 'container',
        totalCpuQuota: quota.cpu,
        currentCpuUsage: cpu,
        totalMemoryQuota: quota.memory,
        currentMemoryUsage: memory,
        totalDiskQuota: quota.disk,
        currentDiskUsage: disk,
        totalGpuQuota: 0,
        currentGpuUsage: 0,
        maxCpuPerSandbox: null,
        maxMemoryPerSandbox: null,
        maxDiskPerSandbox: null,
        maxDiskPerNonEphemeralSandbox: null,
        maxCpuPerGpu: null,
        maxMemoryPerGpu: null,
        maxDiskPerGpu: null,
      })),
      totalSnapshotQuota: 100,
      currentSnapshotUsage: snapshots.list().length,
      totalVolumeQuota: 0,
      currentVolumeUsage: 0,
    }
  })
}
