import { defineAgent, type AgentDefinition, type DefinedAgent } from '../agent.ts'
import { createPipeline } from './pipeline.ts'
import type { Step, StepContext } from './step.ts'

/** What only a model that decides by itself has a use for. */
type OfModels = 'instructions' | 'tools' | 'skills' | 'artifacts' | 'toolArtifacts' | 'requiredTools' | 'requiredToolsForRun' | 'attachmentTools' | 'toolChoice' | 'toolConcurrency' | 'maxSteps' | 'maxToolCalls'

export interface StepsAgentDefinition<S extends object> extends Omit<AgentDefinition, OfModels | 'pipeline'> {
  /** What the first step gets, or a function that makes it for each run. */
  readonly initial: S | ((context: StepContext) => S | Promise<S>)
  /** In their order; at least one. */
  readonly steps: ReadonlyArray<Step<NoInfer<S>>>
}

/**
 * An agent that does the same steps every time, each of which may ask models, tools and other agents. Its `model` is the
 * one its steps ask when they name none. Throws a ZodError listing everything that is wrong with it.
 */
export function defineStepsAgent<S extends object> (definition: StepsAgentDefinition<S>): DefinedAgent {
  return defineAgent(stepsAttributes(definition))
}

/** The same as attributes of an agent, without a check. */
export function stepsAttributes<S extends object> ({ initial, steps, ...attributes }: StepsAgentDefinition<S>): AgentDefinition {
  // Code without types may give anything; what is no list has no steps, which is reported.
  return { ...attributes, pipeline: createPipeline(initial, Array.isArray(steps) ? steps : []) }
}
