import { defineConfig } from 'parley'
import { findBook } from './agents/tools/find-book.ts'

export default defineConfig({
  // Files that define agents, in TypeScript, JavaScript, YAML or JSON; agents may also be written here.
  agents: ['agents/*.{ts,mts,mjs,js,yaml,yml,json}'],
  // Tools that agents may name, which is the only way for those in YAML and JSON.
  tools: [findBook],
  defaultAgent: 'assistant'
})
