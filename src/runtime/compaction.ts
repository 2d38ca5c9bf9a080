import type { CompactionPolicy } from '../agents/compaction-policy.ts'
import { estimateInput, estimateMessage, estimateTokens } from '../models/estimate.ts'
import type { ModelMessage, ModelRequest } from '../models/model.ts'
import { unitsOf, type Unit } from './conversation-units.ts'
import type { InputGauge } from './input-gauge.ts'
import type { RunLogger } from './log.ts'
import { summarise, summaryOverhead, type SummaryOptions } from './summarise.ts'
import { transcriptOf } from './transcript.ts'

export interface CompactionOptions {
  readonly policy: CompactionPolicy
  /** In tokens. */
  readonly contextWindow: number
  readonly gauge: InputGauge
  /** What the run is to answer. */
  readonly question: ModelMessage | undefined
  readonly summaries: Pick<SummaryOptions, 'modelId' | 'cache' | 'ask'>
  readonly log: RunLogger
}

/**
 * The messages of a request, shortened where it comes too near to the model's context window: first old results of tools
 * are left out, then old reasoning, then old turns are summed up. The first message of the user, the last one, the run's
 * question and the newest steps stay as they are, and so do calls with their results. `overflow`: the provider has refused the
 * request as too long, whatever we measured. The very messages come back where they fit, and where nothing may go.
 */
export async function compact (request: ModelRequest, options: CompactionOptions, why: 'measure' | 'overflow' = 'measure'): Promise<readonly ModelMessage[]> {
  const { policy, gauge, question, contextWindow, log } = options
  const sizes = sizesOf(request, options, why)
  if (why === 'measure' && sizes.tokens <= sizes.limit) return request.messages

  const units = unitsOf(request.messages, { keepSteps: policy.keepSteps, question })
  const excess = (sizes.tokens - sizes.target) / sizes.scale
  const lean = withoutOld(units, excess)
  const left = excess - (sizeOf(units) - sizeOf(lean))
  const shortened = left <= 0 ? lean : await summedUp(units, lean, { ...options, ...sizes, excess: left })
  if (shortened === lean && left === excess) {
    log.warn({ tokens: sizes.tokens, contextWindow }, 'the conversation is too long for the model, and nothing of it may go')
    return request.messages
  }
  const messages = shortened.flatMap((unit) => unit.messages)
  const after = gauge.measure({ ...request, messages })
  log[after > sizes.limit ? 'warn' : 'info']({ before: sizes.tokens, after, contextWindow }, 'the conversation was shortened for the model')
  return messages
}

/** In the provider's tokens. */
interface Sizes {
  readonly tokens: number
  /** More than this is too much. */
  readonly limit: number
  readonly target: number
  /** The provider's tokens for one that we estimate. */
  readonly scale: number
}

// An answer may be meant to be nearly as long as the window; the conversation is then given this share.
const leastShare = 0.3

function sizesOf (request: ModelRequest, { policy, contextWindow, gauge }: CompactionOptions, why: 'measure' | 'overflow'): Sizes {
  const measured = gauge.measure(request)
  const besideAnswer = Math.max(contextWindow - (request.settings.maxOutputTokens ?? 0), leastShare * contextWindow)
  const limit = Math.min(policy.at * contextWindow, besideAnswer)
  const target = limit * policy.to / policy.at
  if (why === 'measure') return { tokens: measured, limit, target, scale: gauge.scale() }
  // It is at least as long as the window, so that is how much we measure too little.
  const tokens = Math.max(measured, contextWindow)
  return { tokens, limit, target, scale: Math.max(gauge.scale(), tokens / estimateInput(request)) }
}

/** Without old results and then without old reasoning, from the oldest on, until `excess` estimated tokens are gone. */
function withoutOld (units: readonly Unit[], excess: number): readonly Unit[] {
  let left = excess
  const lighten = (change: (message: ModelMessage) => ModelMessage) => (unit: Unit): Unit => {
    if (left <= 0 || unit.isKept || unit.kind === 'user') return unit
    const lighter = { ...unit, messages: unit.messages.map(change) }
    left -= sizeOf([unit]) - sizeOf([lighter])
    return lighter
  }
  return units.map(lighten(withoutResult)).map(lighten(withoutReasoning))
}

function withoutResult (message: ModelMessage): ModelMessage {
  if (message.role !== 'tool') return message
  const note = `[This result of ${message.content.length} characters was left out to make room.]`
  return note.length < message.content.length ? { ...message, content: note } : message
}

function withoutReasoning (message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant' || message.reasoning === undefined) return message
  const { reasoning, ...rest } = message
  return rest
}

// Of the context window: what one summary may be, and what is summed up at a time. Pieces begin at the oldest message and are
// taken whole, so that the same ones are taken on the next turn, and their summaries are known.
const summaryShare = 0.05
const maxSummaryTokens = 2_000
const pieceShare = 0.25
const leastPieceTokens = 50

interface SummingUp extends CompactionOptions, Sizes {
  /** Estimated tokens that must go. */
  readonly excess: number
}

interface Piece {
  readonly units: readonly Unit[]
  readonly transcript: string
}

/** The units with as many of the oldest in one summary as it takes. `whole` are the units before results were left out. */
async function summedUp (whole: readonly Unit[], lean: readonly Unit[], options: SummingUp): Promise<readonly Unit[]> {
  const { policy, limit, log, summaries } = options
  const scale = coarse(options.scale)
  const contextWindow = options.contextWindow / scale
  const maxTokens = Math.ceil(Math.min(summaryShare * contextWindow, maxSummaryTokens))
  const first = whole.find((unit) => unit.kind === 'user')
  const beginning = first?.messages[0]?.role === 'user' ? first.messages[0].content : ''
  const room = limit / scale - estimateTokens(beginning) - summaryOverhead(maxTokens)
  const pieceTokens = Math.floor(Math.min(pieceShare * contextWindow, room))
  const leanOf = new Map(whole.map((unit, index) => [unit, lean[index] ?? unit]))
  const pieces = enough(piecesOf(candidates(whole), Math.max(pieceTokens, leastPieceTokens)), options.excess + maxTokens, (unit) => sizeOf([leanOf.get(unit) ?? unit]))
  const taken = new Set(pieces.flatMap((piece) => piece.units))
  if (taken.size === 0) return lean

  const summary = policy.summarise && pieceTokens >= leastPieceTokens
    ? await summarise(pieces.map(({ transcript }) => transcript), { ...summaries, beginning, maxTokens })
    : { text: undefined, pieces: 0 }
  if (policy.summarise && summary.pieces < pieces.length) log.warn({ pieces: pieces.length, summedUp: summary.pieces }, 'a part of the conversation was left out without a summary')
  const note = noteUnit(summary.text, summary.pieces === pieces.length)
  const left = whole.flatMap((unit) => taken.has(unit) ? [] : [leanOf.get(unit) ?? unit])
  const behindFirst = left.findIndex((unit) => unit.kind === 'user') + 1
  return left.toSpliced(behindFirst, 0, note)
}

/** In few steps, so that pieces are cut at the same places however a conversation is measured. */
function coarse (scale: number): number {
  return [1, 1.5, 2, 3].find((step) => step >= scale) ?? 4
}

/** What may go, the oldest first; questions between the newest steps only when nothing else is left. */
function candidates (units: readonly Unit[]): readonly Unit[] {
  const free = units.filter((unit) => !unit.isKept)
  return [...free.filter((unit) => unit.isOld), ...free.filter((unit) => !unit.isOld)]
}

function piecesOf (units: readonly Unit[], maxTokens: number): readonly Piece[] {
  const pieces: Array<{ units: Unit[], transcript: string, tokens: number }> = []
  for (const unit of units) {
    const transcript = transcriptOf(unit.messages, maxTokens)
    const tokens = estimateTokens(transcript)
    const open = pieces.at(-1)
    if (open !== undefined && open.tokens + tokens <= maxTokens) {
      open.units.push(unit)
      open.transcript += `\n${transcript}`
      open.tokens += tokens
    } else {
      pieces.push({ units: [unit], transcript, tokens })
    }
  }
  return pieces
}

function enough (pieces: readonly Piece[], tokens: number, sizeOfUnit: (unit: Unit) => number): readonly Piece[] {
  let left = tokens
  const taken: Piece[] = []
  for (const piece of pieces) {
    if (left <= 0) break
    taken.push(piece)
    left -= piece.units.reduce((sum, unit) => sum + sizeOfUnit(unit), 0)
  }
  return taken
}

function noteUnit (summary: string | undefined, isWhole: boolean): Unit {
  const lost = isWhole ? '' : ' A part of it is lost.'
  const content = summary === undefined
    ? '[What followed this was left out to make room.]'
    : `[What followed this was summed up to make room.${lost}]\n\n<summary>\n${summary}\n</summary>`
  return { kind: 'user', messages: [{ role: 'user', content }], isKept: false, isOld: true }
}

function sizeOf (units: readonly Unit[]): number {
  return units.reduce((sum, unit) => sum + unit.messages.reduce((total, message) => total + estimateMessage(message), 0), 0)
}
