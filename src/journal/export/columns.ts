import type { SchemaElement } from 'hyparquet-writer'

/** A column of a Parquet file: its part of the schema, and where its values come from. */
export interface Column<Row> {
  readonly name: string
  readonly schema: readonly SchemaElement[]
  readonly of: (row: Row) => unknown
}

type Leaf = Pick<SchemaElement, 'type' | 'converted_type'>
type Repetition = 'REQUIRED' | 'OPTIONAL'

export const UTF8: Leaf = { type: 'BYTE_ARRAY', converted_type: 'UTF8' }
export const INT32: Leaf = { type: 'INT32' }
/** Token ids: no vocabulary reaches 2^31, and those that ever did would still be right. */
export const TOKEN_ID: Leaf = { type: 'INT32', converted_type: 'UINT_32' }
export const FLOAT: Leaf = { type: 'FLOAT' }
export const DOUBLE: Leaf = { type: 'DOUBLE' }

/** A field of a struct, or the schema of a whole column. */
export type Field = readonly SchemaElement[]

export function leaf(name: string, type: Leaf, repetition_type: Repetition = 'REQUIRED'): Field {
  return [{ name, ...type, repetition_type }]
}

export function struct(name: string, fields: readonly Field[], repetition_type: Repetition = 'REQUIRED'): Field {
  return [{ name, repetition_type, num_children: fields.length }, ...fields.flat()]
}

/** The standard three levels. `element` is a field of the name `element`. */
export function list(name: string, element: Field, repetition_type: Repetition = 'REQUIRED'): Field {
  return [
    { name, converted_type: 'LIST', repetition_type, num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    ...element,
  ]
}

export function column<Row>(schema: Field, of: (row: Row) => unknown): Column<Row> {
  return { name: schema[0]?.name ?? '', schema, of }
}

export function text<Row>(name: string, of: (row: Row) => string | null, repetition?: Repetition): Column<Row> {
  return column(leaf(name, UTF8, repetition), of)
}

export function integer<Row>(name: string, of: (row: Row) => number): Column<Row> {
  return column(leaf(name, INT32), of)
}

/** Null where there is none. */
export function figure<Row>(name: string, of: (row: Row) => number | null): Column<Row> {
  return column(leaf(name, DOUBLE, 'OPTIONAL'), of)
}

/** A column of numbers, as many in each row as there are. */
export function numbers<Row>(name: string, type: Leaf, of: (row: Row) => readonly number[]): Column<Row> {
  return column(list(name, leaf('element', type)), of)
}

export function json<Row>(name: string, of: (row: Row) => unknown): Column<Row> {
  return column(leaf(name, { type: 'BYTE_ARRAY', converted_type: 'JSON' }, 'OPTIONAL'), of)
}

/** Milliseconds since 1970. */
export function timestamp<Row>(name: string, of: (row: Row) => number): Column<Row> {
  const schema = leaf(name, { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' })
  return column(schema, row => new Date(of(row)))
}
