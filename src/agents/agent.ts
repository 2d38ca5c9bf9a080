import { z } from 'zod'
import { artifactSchema, type BuildArtifact } from '../artifacts/artifact.ts'
import { permissionListSchema } from '../auth/permission-entry.ts'
import { isMemory, type Memory } from '../memories/memory.ts'
import { protocolNames, wireProfiles } from '../messages/wire.ts'
import { isZod } from '../tools/schema.ts'
import { budgetSchema } from './budget.ts'
import { compactionSchema } from './compaction-policy.ts'
import type { AfterToolHook, AttachmentToolsHook, BeforeModelHook, BeforeToolHook, FinishHook, RequiredToolsHook, SystemPromptHook, TitlePromptHook, ToolChoiceHook, ToolsHook, UsageHook } from './hooks.ts'
import type { StopCondition } from './stop-when.ts'
import type { AttachedFile } from '../messages/attachment.ts'
import type { JsonSchema, ToolChoice } from '../models/model.ts'
import { isTool, type Tool, type ToolContext } from '../tools/tool.ts'
import { crewEntrySchema, type CrewMember } from './crew.ts'
import { storageSchema } from './storage-choice.ts'
import { suggestionsSchema } from './suggestion-policy.ts'
import { isPipeline, type Pipeline } from './steps/pipeline.ts'

/** Called once per run; returns the tools that run may use. What it throws costs its own tools only. */
export type ToolProvider = (context: Pick<ToolContext, 'principal' | 'threadId' | 'runId' | 'metadata' | 'signal'>) => Tool | readonly Tool[] | Promise<Tool | readonly Tool[]>

/** What a policy is told of a call that needs approval. */
export interface GatedCall { readonly callId: string, readonly toolName: string, readonly input: unknown }

/** Decides in place of a person, at every depth of a run; what it throws denies. */
export type ApprovalPolicy = (call: GatedCall, context: Omit<ToolContext, 'signal' | 'report'>) => PolicyVerdict | Promise<PolicyVerdict>
type PolicyVerdict = boolean | { readonly approved: boolean, readonly reason?: string }

const callable = <F>(what: string) => z.custom<F>((value) => typeof value === 'function', `expected ${what}`)
const hook = <F>() => callable<F>('a function').optional()
const tool = z.custom<Tool>(isTool, 'expected a tool made by defineTool')
const schema = z.custom<z.ZodType | JsonSchema>((value) => isZod(value) || (typeof value === 'object' && value !== null && !Array.isArray(value)), 'expected a zod schema or a JSON schema')
const stopCondition = callable<StopCondition>('a condition such as stepCountIs(5), or a function')
const positive = z.number().int().positive()
const milliseconds = z.number().positive()

export const modelSettingsSchema = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  maxOutputTokens: positive.optional(),
  reasoningEffort: z.string().optional(),
  seed: z.number().int().optional(),
  stop: z.array(z.string()).optional(),
  frequencyPenalty: z.number().optional(),
  presencePenalty: z.number().optional()
})

export const timeoutsSchema = z.strictObject({
  /** From the request to the first event of a model call. */
  firstTokenMs: milliseconds.default(60_000),
  /** Silence inside a model call; comment pings do not count as life. */
  idleMs: milliseconds.default(60_000),
  /** Of the whole run. */
  totalMs: milliseconds.default(300_000)
})

export const toolChoiceSchema = z.union([z.enum(['auto', 'required', 'none']), z.strictObject({ tool: z.string() })])

/** The attributes of an agent; defaults and meanings in docs/agents.md. */
export const agentSchema = z.strictObject({
  key: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'expected letters, digits, ".", "_" or "-", at most 128'),
  aliases: z.array(z.string()).default([]),
  name: z.string().min(1).optional(),
  description: z.string().default(''),
  /** `provider:model`, a plain model id of the default provider, or absent for the registry's default. */
  model: z.string().min(1).optional(),
  fallbackModels: z.array(z.string().min(1)).default([]),
  modelSettings: modelSettingsSchema.default({}),
  instructions: z.string().default('You are a helpful agent.'),
  /** Of an agent made by defineStepsAgent: what it does in place of asking its model. */
  pipeline: z.custom<Pipeline>(isPipeline, 'expected steps, which are functions, and at least one of them').optional(),
  systemPrompt: hook<SystemPromptHook>(),
  maxHistory: positive.optional(),
  /** A list, or the hook that chooses among what the other attributes bring. */
  tools: z.union([z.array(z.union([tool, callable<ToolProvider>('a tool made by defineTool or a provider function'), z.string()])), callable<ToolsHook>('a list of tools or a function')]).default([]),
  /** Folders that hold a SKILL.md. */
  skills: z.array(z.union([z.string().min(1), z.custom<URL>((value) => value instanceof URL, 'expected the path or the URL of a folder')])).default([]),
  memory: z.union([z.enum(['none', 'database', 'volatile']), z.custom<Memory>(isMemory, 'expected a memory, with the functions recall and remember')]).default('none'),
  /** Where its threads are kept. */
  storage: storageSchema,
  /** Names of integrations of the configuration; their tools come after the agent's own. */
  integrations: z.array(z.string()).default([]),
  /** What its model may give the user by tools of their own: `artifact_<name>`. */
  artifacts: z.array(artifactSchema).default([]),
  /** By the name of a tool: what its result is shown as. */
  toolArtifacts: z.record(z.string(), z.strictObject({ artifact: artifactSchema, build: callable<BuildArtifact>('a function') })).default({}),
  requiredTools: z.array(z.string()).default([]),
  requiredToolsForRun: hook<RequiredToolsHook>(),
  agents: z.array(crewEntrySchema).default([]),
  delegation: z.enum(['tools', 'group']).default('tools'),
  maxDepth: positive.default(2),
  maxMemberCalls: positive.default(24),
  memberConcurrency: positive.default(4),
  shareAttachments: z.boolean().default(false),
  subagentStream: z.enum(['none', 'tools', 'full']).default('tools'),
  needsApproval: z.union([z.boolean(), callable<Exclude<Tool['needsApproval'], boolean>>('true, false or a function')]).default(false),
  approveToolCall: callable<ApprovalPolicy>('a function').optional(),
  responseFormat: schema.optional(),
  fileUpload: z.boolean().default(false),
  vision: z.boolean().default(false),
  formatAttachment: hook<(file: AttachedFile, description: string) => string | Promise<string>>(),
  attachmentTools: hook<AttachmentToolsHook>(),
  maxSteps: positive.optional(),
  maxToolCalls: positive.nullable().optional(),
  toolChoice: z.union([toolChoiceSchema, callable<ToolChoiceHook>('a function')]).default('auto'),
  toolConcurrency: positive.default(4),
  toolTimeoutMs: milliseconds.default(120_000),
  timeouts: timeoutsSchema.prefault({}),
  budget: budgetSchema.optional(),
  stopWhen: z.union([stopCondition, z.array(stopCondition)]).default([]).transform((given) => Array.isArray(given) ? given : [given]),
  compaction: compactionSchema,
  titleGeneration: z.boolean().default(true),
  titlePrompt: hook<TitlePromptHook>(),
  /** What the user may want to ask next, behind the answer. */
  suggestions: suggestionsSchema,
  beforeTool: hook<BeforeToolHook>(),
  afterTool: hook<AfterToolHook>(),
  beforeModel: hook<BeforeModelHook>(),
  onUsage: hook<UsageHook>(),
  onFinish: hook<FinishHook>(),
  onDisconnect: z.enum(['continue', 'stop']).default('continue'),
  protocol: z.enum(protocolNames).default('ai-sdk'),
  wireProfile: z.enum(wireProfiles).default('portable'),
  meta: z.record(z.string(), z.unknown()).default({}),
  /** In place of the list that the configuration has for agents. */
  permissions: permissionListSchema.optional(),
  hidden: z.boolean().default(false),
  directAccess: z.boolean().default(false),
  abstract: z.boolean().default(false)
})

/** `kind` is allowed, so that a defined agent can be spread as the base of another. */
export type AgentDefinition = z.input<typeof agentSchema> & { readonly kind?: 'agent' }

/** A checked definition whose name is settled; `kind` tells it from any other exported value. */
export type DefinedAgent = Readonly<z.output<typeof agentSchema>> & { readonly kind: 'agent' }

/** An agent of the registry: stable id, tools resolved from their names, model settled. */
export interface Agent extends Omit<DefinedAgent, 'tools' | 'toolChoice' | 'model' | 'fallbackModels' | 'name' | 'agents'> {
  readonly id: string
  /** Of a runtime agent: whose it is. */
  readonly tenantId?: string
  readonly name: string
  /** Full `provider:model`, as are the fallback models. */
  readonly model: string
  /** Its own, and then a provider for each of its integrations. */
  readonly fallbackModels: readonly string[]
  readonly tools: readonly (Tool | ToolProvider)[]
  /** Those it may delegate to, in the registry by these keys. */
  readonly crew: readonly CrewMember[]
  /** Where `tools` is a function. */
  readonly toolsForRun: ToolsHook | undefined
  /** Of the first step. */
  readonly toolChoice: ToolChoice
  /** Where `toolChoice` is a function: of every step. */
  readonly toolChoiceForStep: ToolChoiceHook | undefined
}

/** Checks and freezes a definition. Throws a ZodError listing everything that is wrong with it. */
export function defineAgent (definition: AgentDefinition): DefinedAgent {
  const { kind, ...attributes } = definition
  return Object.freeze({ ...agentSchema.parse(attributes), kind: 'agent' })
}
