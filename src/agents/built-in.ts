import type { ParleyConfig } from './config.ts'

/** What is served where nothing is configured, so that a first start answers. */
export const builtInConfig: ParleyConfig = {
  agents: [{
    key: 'assistant',
    name: 'Assistant',
    description: 'A general assistant.',
    instructions: 'You are a helpful assistant. Answer briefly and say so when you do not know.'
  }],
  defaultAgent: 'assistant'
}
