import { XMLParser } from 'fast-xml-parser'
import { z } from 'zod'

/** One test as pytest's report file tells of it. */
export interface ReportedTest {
  readonly name: string
  readonly passed: boolean
  /** Why it failed, broke or was skipped. */
  readonly message: string
}

const LISTS = new Set(['testsuite', 'testcase', 'failure', 'error', 'skipped'])

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseAttributeValue: false,
  // Numeric references too: pytest writes the line ends of a message as `&#10;`.
  htmlEntities: true,
  isArray: (name: string) => LISTS.has(name),
})

const trouble = z.array(z.union([z.string(), z.looseObject({ message: z.string().default('') })])).default([])
const testcase = z.looseObject({ name: z.string(), failure: trouble, error: trouble, skipped: trouble })
const testsuite = z.looseObject({ testcase: z.array(testcase).default([]) })
const report = z.object({ testsuites: z.looseObject({ testsuite: z.array(testsuite).default([]) }) })

/** Reads a JUnit report as pytest writes it; undefined for anything else. */
export function parseJunitReport(xml: string): readonly ReportedTest[] | undefined {
  const parsed = report.safeParse(parseXml(xml))
  if (!parsed.success) return undefined
  return parsed.data.testsuites.testsuite
    .flatMap(suite => suite.testcase)
    .map(({ name, failure, error, skipped }) => {
      const troubles = [...failure, ...error, ...skipped]
      const message = troubles.map(each => (typeof each === 'string' ? each : each.message)).join('; ')
      return { name, passed: troubles.length === 0, message }
    })
}

function parseXml(xml: string): unknown {
  try {
    return parser.parse(xml)
  } catch {
    return undefined // no XML is no report either
  }
}
