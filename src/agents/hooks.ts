import type { ErrorCode } from '../errors.ts'
import type { FinishReason } from '../events/run-event.ts'
import type { Usage } from '../events/usage.ts'
import type { AttachedFile } from '../messages/attachment.ts'
import type { ModelMessage, ModelRequest, ToolChoice } from '../models/model.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'

/** For whom and where an agent runs. */
export type HookContext = Pick<ToolContext, 'principal' | 'threadId' | 'runId' | 'agentPath' | 'metadata' | 'signal'>

// A hook takes the place of something an agent does by itself, and is given that as its last argument, to be returned as it
// is, changed, or not at all. What a hook throws fails the run, unless its own contract says otherwise.

/** The system prompt of a run, made once when it begins. Given the agent's `instructions`. */
export type SystemPromptHook = (context: HookContext, instructions: string) => string | Promise<string>

/**
 * The tools of a run, chosen once when it begins. Given all there are by the agent's other attributes. Where it throws the
 * run has no tools, and its user is told that they are not available.
 */
export type ToolsHook = (context: HookContext, tools: readonly Tool[]) => readonly Tool[] | Promise<readonly Tool[]>

/**
 * Further tools of a run, for the files its agent sees, in the order of the conversation; asked once when the run begins, and
 * not where there are no files. Given our own tools for files. Where it throws the run has none of these, and its user is
 * told so.
 */
export type AttachmentToolsHook = (files: readonly AttachedFile[], context: HookContext, tools: readonly Tool[]) => readonly Tool[] | Promise<readonly Tool[]>

/** Further tools that must be called before the run may end, for one turn. Given the agent's `requiredTools`, which count anyway. */
export type RequiredToolsHook = (messages: readonly ModelMessage[], requiredTools: readonly string[]) => readonly string[]

/** What a model is told when it makes a thread's title. Given our own words for it. Where it throws, the title is made on a later turn. */
export type TitlePromptHook = (question: string, instructions: string) => string | Promise<string>

export interface ChoiceFacts {
  /** 1 for the first model call of the run. */
  readonly step: number
  readonly messages: readonly ModelMessage[]
  /** Names of the tools that the run has called so far. */
  readonly calledTools: ReadonlySet<string>
}

/** Whether the model may, must or must not call a tool in this step, and which. Given `auto`. A tool that is not offered is no choice. */
export type ToolChoiceHook = (facts: ChoiceFacts, toolChoice: ToolChoice) => ToolChoice

export interface HookedCall { readonly callId: string, readonly toolName: string }

/**
 * The input a tool runs with. Given the input as the model gave it, checked against the tool's schema; what is returned is
 * not checked again. Users, and those who approve calls, see the model's own. What it throws is the call's failure. For tools
 * that run here.
 */
export type BeforeToolHook = (call: HookedCall, context: HookContext, input: unknown) => unknown

/** The result of a call, for user and model alike. Given the tool's own. Not asked after a failure; what it throws is one. */
export type AfterToolHook = (call: HookedCall & { readonly input: unknown }, context: HookContext, output: unknown) => unknown

/**
 * The request a model is sent. Given the one that is ready to be sent, compacted where that was needed. The conversation
 * itself stays as it was: the next request is made without this change. `model` is the agent's own, also where another one
 * then has to step in.
 */
export type BeforeModelHook = (call: { readonly model: string, readonly step: number }, context: HookContext, request: ModelRequest) => ModelRequest | Promise<ModelRequest>

export interface UsageReport {
  /** The model that was called. */
  readonly model: string
  readonly usage: Usage
  /** In US dollars; absent where the model's price is not known. */
  readonly costUsd?: number
  /** The provider told none. */
  readonly estimated: boolean
}

/** Told of each model call of the agent once what it used is known, also of one that failed or was stopped. What it throws is logged. */
export type UsageHook = (report: UsageReport, context: HookContext) => unknown

export interface RunOutcome {
  readonly state: 'completed' | 'suspended' | 'stopped' | 'failed' | 'interrupted'
  readonly finishReason?: FinishReason
  /** Of the run and everything below it. */
  readonly usage: Usage
  /** In US dollars; absent where the price of a call is not known. */
  readonly costUsd?: number
  /** Of a run that failed or was interrupted. */
  readonly errorCode?: ErrorCode
}

/** Told once how a run ended; a run that goes on after it was suspended is another one. What it throws is logged. */
export type FinishHook = (outcome: RunOutcome, context: HookContext) => unknown
