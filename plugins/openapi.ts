import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fp from 'fastify-plugin'
import type { FastifySchema } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Config } from '../src/config.ts'

/** What a body, or an answer of one kind, is made of. */
export interface Content {
  readonly schema: z.ZodType
  readonly example: unknown
}

export interface Answer {
  readonly description: string
  /** By content type; none for an answer without a body. */
  readonly content: Readonly<Record<string, Content>>
  /** What each header says. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * What a route says of itself beside its schemas. Kept apart from `response`, so that an answer is described and not
 * checked again each time it is sent.
 */
export interface RouteReference {
  readonly answers: Readonly<Record<string, Answer>>
  /** `schema` only where the route reads its body itself; the example belongs to the route's own schema otherwise. */
  readonly body?: { readonly schema?: z.ZodType, readonly example: unknown, readonly contentType?: string }
}

declare module 'fastify' {
  interface FastifySchema {
    reference?: RouteReference
  }
}

export interface OpenapiOptions {
  readonly config: Pick<Config, 'publicUrl' | 'auth'>
  readonly tags: ReadonlyArray<{ readonly name: string, readonly description: string }>
  /** Shapes that the document names once and refers to. */
  readonly components: z.core.$ZodRegistry<{ id: string }>
}

interface Described { paths?: Record<string, Record<string, Operation & { operationId?: string }>>, components?: { schemas?: Record<string, unknown> } }
interface Media { example?: unknown }
interface Operation { requestBody?: { content: Record<string, Media> }, responses: Record<string, { description: string, content?: Record<string, Media>, headers?: object }> }

// The page has no inline script; its library writes styles, and draws with images of its own.
const pagePolicy = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A key of the service, or a token of its issuer' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same in a header of its own' }
} as const

/** Describes every route that is registered after this, and shows the description as a page at /docs. */
export default fp<OpenapiOptions>(async (app, { config, tags, components }) => {
  const references = new Map<string, RouteReference>()
  const toJsonSchema = createJsonSchemaTransform({ schemaRegistry: components, zodToJsonConfig: { override: leaveOpen } })
  const addComponents = createJsonSchemaTransformObject({ schemaRegistry: components, zodToJsonConfig: { override: leaveOpen } })

  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Parley', version: '1.0.0', description: 'Runs chat agents: streamed answers, and threads that stay.' },
      servers: [{ url: config.publicUrl ?? '/' }],
      tags: tags.map((tag) => ({ ...tag })),
      components: { securitySchemes },
      // Without a requirement, an empty one says, credentials are not looked at.
      security: config.auth === 'none' ? [{}, { bearer: [] }, { apiKey: [] }] : [{ bearer: [] }, { apiKey: [] }]
    },
    transform ({ schema, ...rest }) {
      const { reference, ...own } = (schema ?? {}) as FastifySchema
      const operationId = (own as { operationId?: string }).operationId
      if (reference !== undefined && operationId !== undefined) references.set(operationId, reference)
      return toJsonSchema({ ...rest, schema: reference === undefined ? own : { ...own, ...shapesOf(reference) } } as unknown as Parameters<typeof toJsonSchema>[0]) // zod schemas, where JSON ones are typed
    },
    transformObject (document) {
      const described = addComponents(document) as Described
      for (const path of Object.values(described.paths ?? {})) {
        for (const operation of Object.values(path)) addExamples(operation, references.get(operation.operationId ?? ''))
      }
      dropUnused(described)
      return described
    }
  })
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: pagePolicy, theme: { title: 'Parley API' } })
}, { name: 'openapi' })

function shapesOf ({ answers, body }: RouteReference): object {
  const response = Object.fromEntries(Object.entries(answers).map(([status, { description, content }]) => [status, Object.keys(content).length === 0 ? z.null() : { description, content }]))
  return { response, ...(body?.schema === undefined ? {} : { body: body.schema }), ...(body?.contentType === undefined ? {} : { consumes: [body.contentType] }) }
}

/** Examples, headers and words, which the conversion of schemas loses. */
function addExamples ({ requestBody, responses }: Operation, reference: RouteReference | undefined): void {
  if (reference === undefined) return
  for (const media of Object.values(requestBody?.content ?? {})) media.example = reference.body?.example
  for (const [status, { description, content, headers }] of Object.entries(reference.answers)) {
    const response = responses[status]
    if (response === undefined) continue
    response.description = description
    for (const [type, media] of Object.entries(response.content ?? {})) media.example = content[type]?.example
    if (headers !== undefined) response.headers = Object.fromEntries(Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]))
  }
}

/** Each shape is converted as an input too, and most are none. */
function dropUnused (document: Described): void {
  const text = JSON.stringify(document)
  const schemas = document.components?.schemas ?? {}
  for (const name of Object.keys(schemas)) if (!text.includes(`"#/components/schemas/${name}"`)) delete schemas[name]
}

/** Answers may get further fields without notice, and a body's unknown ones are ignored. */
function leaveOpen ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  // The calendar as an expression, beside the format that says the same.
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
}
