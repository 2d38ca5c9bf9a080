import { defineConfig } from 'parley'

const agents = (process.env.BENCH_MODELS ?? '').split(',').map((model, index) => ({ key: `bench-${index}`, model: `bench:${model}`, titleGeneration: false }))

const members = Array.from({ length: 4 }, (_, index) => ({ key: `bench-member-${index}`, name: `Member ${index}`, model: 'bench:burst:200', titleGeneration: false }))
const crew = { key: 'bench-crew', model: 'bench:delegate:1', agents: members.map(({ key }) => key), titleGeneration: false }
const shownCrew = { ...crew, key: 'bench-crew-full', subagentStream: 'full' }

export default defineConfig({ agents: [...agents, ...members, crew, shownCrew], providers: { bench: { baseURL: `${process.env.UPSTREAM_URL}/v1` } } })
