/**
 * The engine as a library. Narrower entries: `troupe/kernel`, `troupe/stream`, `troupe/environment`, `troupe/emulator`, `troupe/policy` and, for tests,
 * `troupe/testing`. What takes long to load is loaded when it is first used, and not with this.
 */
export type { Agent, AgentContext, AgentFactory, AgentSpec, AgentStop, ConfigSchema } from './agents/agent.ts'
export { defineAgent } from './agents/agent.ts'
export type { ChatConfig } from './agents/chat/config.ts'
export { chatTools } from './agents/chat/tools/index.ts'
export type { ClaudeConfig } from './agents/claude/config.ts'
export type { ClaudeCodeConfig } from './agents/claude-code/config.ts'
export { createAgent } from './agents/create-agent.ts'
export type { OpenAiConfig } from './agents/openai/config.ts'
export { type PromptMessage, promptMessages, promptText } from './agents/prompt.ts'
export type { PromptPart } from './agents/prompt-part.ts'
export { type Clock, systemClock } from './clock.ts'
export type { ClusterOptions } from './cluster/options.ts'
export { type Dashboard, type DashboardOptions, serveDashboard } from './dashboard/serve-dashboard.ts'
export { type ErrorData, hasTag, TroupeError, toErrorData } from './errors.ts'
export type { FeedPrices } from './feed/open-feed.ts'
export type { GroupId, IdSource, JobId, RunId, SandboxId } from './ids.ts'
export { Job, type JobOptions } from './job/job.ts'
export type { Deadlines, EngineOptions, PoolOptions, RunOptions } from './job/options.ts'
export type { JobReport, ReportCounts, ReportedJob, Reporter } from './job/reporter.ts'
export type { JobSnapshot } from './job/snapshot.ts'
export { hudEndpoint, type ModelEndpoint, oneServer, type ServedModel } from './models/endpoint.ts'
export { loadPlatformTaskset } from './platform/load-taskset.ts'
export { createPlatformReporter, type PlatformReporterOptions } from './platform/reporter.ts'
export type { PlatformOptions } from './platform/settings.ts'
export type { Group, GroupEnd, GroupStrategy } from './rollout/group.ts'
export type { LiveList, LiveRollout } from './rollout/live.ts'
export type { Outcome, Phase, PhaseTimings, Run, RunHeader, StopReason } from './rollout/run.ts'
export type { ToolCall, Trajectory, Turn, TurnTokens } from './rollout/trajectory.ts'
export { DaytonaRuntime } from './runtimes/daytona/daytona-runtime.ts'
export type { DaytonaRuntimeOptions } from './runtimes/daytona/options.ts'
export { DockerRuntime } from './runtimes/docker/docker-runtime.ts'
export type { DockerRuntimeOptions } from './runtimes/docker/options.ts'
export { LocalRuntime } from './runtimes/local.ts'
export { RoutedRuntime, type RoutedRuntimeOptions, type Routes } from './runtimes/routed.ts'
export type {
  ConfiguredTask,
  LeaseKind,
  ProviderPool,
  ProvisionPlan,
  ProvisionRequest,
  Runtime,
  Sandbox,
  SandboxOrigin,
} from './runtimes/runtime.ts'
export { SharedRuntime } from './runtimes/shared.ts'
export { SubprocessRuntime } from './runtimes/subprocess.ts'
export { UrlRuntime } from './runtimes/url.ts'
export type { Chunk } from './stream/chunk.ts'
export { chunkGroups } from './stream/chunk-groups.ts'
export type { ChunkOptions } from './stream/chunk-options.ts'
export type { GroupStream } from './stream/group-stream.ts'
export { processChunks } from './stream/process-chunks.ts'
export type { RuntimeConfig, RuntimeLimits, RuntimeResources } from './taskset/runtime-config.ts'
export type { Task } from './taskset/task.ts'
export { Taskset } from './taskset/taskset.ts'
export {
  CHANNELS,
  type ChannelMessages,
  type EngineEvent,
  type KnownWorker,
  type WorkersEvent,
} from './telemetry/channels.ts'
export { createMetrics, type Metrics, type MetricsOptions } from './telemetry/metrics/create-metrics.ts'
export { createTraces, type Traces, type TracesOptions } from './telemetry/traces/create-traces.ts'
export { openTinkerTrainer } from './training/adapters/open-tinker.ts'
export type { TinkerOptions, TinkerSample, TinkerTrainer } from './training/adapters/tinker.ts'
export type { TrainingInput } from './training/check-groups.ts'
export { TrainingClient, type TrainingClientOptions } from './training/client.ts'
export type {
  CustomLoss,
  CustomLossFunction,
  DatumTensors,
  ForwardOptions,
  ForwardResult,
} from './training/custom-loss.ts'
export type { BodySplit } from './training/errors.ts'
export type { LedgerEntry, LedgerState } from './training/ledger.ts'
export {
  type EvaluationShape,
  type Training,
  type TrainingEvent,
  type TrainingHistory,
  type TrainingJob,
  type TrainOptions,
  type TrainShape,
  toJobSettings,
  train,
} from './training/loop/index.ts'
export { defineTrainer, type TrainerFactory, type TrainerRequest, type TrainerSetup } from './training/own-trainer.ts'
export type { EvaluationRecord, StepEnd, StepRecord } from './training/records.ts'
export { type SampleOptions, type TrainingSample, toSamples } from './training/samples.ts'
export type {
  AccumulatedState,
  Checkpoint,
  ForwardBackwardOptions,
  ForwardBackwardResult,
  LossName,
  OptimStepOptions,
  OptimStepResult,
  PolicyStep,
  Trainer,
} from './training/trainer.ts'
export type { CommandOptions, CommandResult, Shell } from './wire/shell.ts'
