import { defineConfig } from 'parley'

const agents = (process.env.BENCH_MODELS ?? '').split(',').map((model, index) => ({ key: `bench-${index}`, model: `bench:${model}`, titleGeneration: false }))

export default defineConfig({ agents, providers: { bench: { baseURL: `${process.env.UPSTREAM_URL}/v1` } } })
