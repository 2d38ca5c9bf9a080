import type { MessagePart } from '../../messages/parts.ts'
import { dataFrame } from '../sse.ts'

type Chunk = MessagePart | ({ readonly type: string } & Readonly<Record<string, unknown>>)

/** The frame of one chunk of the UI message stream. */
export function chunk (value: Chunk): string {
  return dataFrame(JSON.stringify(value))
}
