/** Values inside parts are what JSON holds, so that memory, storage and wire agree on them. */
export { toJsonSafe as jsonSafe } from '../tools/serialise.ts'
