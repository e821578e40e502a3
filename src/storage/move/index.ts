import type { ModuleSpec } from '../module.ts'
import { openPostgresHost, type PgHostOptions } from '../postgres/index.ts'
import { type Digest, Digester } from './digest.ts'
import { StoreMoveError } from './errors.ts'
import type { MovedRow, MoveSource } from './source.ts'
import type { MovedTable, WingMove } from './table.ts'
import { MoveTarget, type Progress } from './target.ts'

export { type MoveErrorReason, StoreMoveError } from './errors.ts'
export { columns, type MovedColumn, type MovedTable, type WingMove } from './table.ts'

/** Rows and bytes of one step: a fraction of a second, and never much memory. */
const STEP_ROWS = 2000
const STEP_BYTES = 4_194_304

/** A single statement may read a whole large table for its checksum. */
const STATEMENT_TIMEOUT_MS = 6 * 3_600_000

/** What is moved, and from where to where. */
export interface StoreMove {
  readonly dataDir: string
  /** The tables of the embedded store. */
  readonly sources: readonly ModuleSpec[]
  readonly target: Pick<PgHostOptions, 'target' | 'modules'> & Partial<PgHostOptions>
  readonly wings: readonly WingMove[]
  /** Told how far it is: rows that were copied or compared, of all. */
  readonly onProgress?: (step: MoveStep) => void
}

/** How far a move is. */
export interface MoveStep {
  readonly phase: 'copy' | 'verify'
  readonly table: string
  readonly rows: number
  readonly of: number
}

/** What a move came to. */
export interface MoveReport {
  readonly rows: number
  /** Rows that an earlier run, which was cut off, had moved already. */
  readonly movedBefore: number
}

function bytesOf({ values }: MovedRow): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 8),
    0,
  )
}

/** Rows in steps of limited size. */
function* stepsOf(rows: Iterable<MovedRow>): Generator<readonly MovedRow[]> {
  let step: MovedRow[] = []
  let bytes = 0
  for (const row of rows) {
    step.push(row)
    bytes += bytesOf(row)
    if (step.length < STEP_ROWS && bytes < STEP_BYTES) continue
    yield step
    step = []
    bytes = 0
  }
  if (step.length > 0) yield step
}

/** One run of a move. */
class Mover {
  readonly #source: MoveSource
  readonly #target: MoveTarget
  readonly #tables: readonly MovedTable[]
  readonly #told: (step: MoveStep) => void
  readonly #of: number
  #rows = 0

  constructor(move: StoreMove, source: MoveSource, target: MoveTarget) {
    this.#source = source
    this.#target = target
    this.#tables = move.wings.flatMap(({ tables }) => tables)
    this.#told = move.onProgress ?? (() => undefined)
    this.#of = this.#tables.reduce((sum, table) => sum + source.count(table), 0)
  }

  async run(): Promise<MoveReport> {
    const known = await this.#target.begin(this.#source.identity)
    const movedBefore = [...known.values()].reduce((sum, { rows }) => sum + rows, 0)
    this.#rows = movedBefore
    for (const table of this.#tables) await this.#copy(table, known.get(table.name))
    this.#rows = 0
    for (const table of this.#tables) await this.#verify(table)
    await this.#target.finish()
    return { rows: this.#of, movedBefore }
  }

  async #copy(table: MovedTable, progress: Progress | undefined): Promise<void> {
    if (progress?.done === true) return
    for (const step of stepsOf(this.#source.rows(table, progress?.after ?? null))) {
      await this.#target.write(table, step)
      this.#tell('copy', table, step.length)
    }
    await this.#target.close(table, this.#source.lastId(table))
  }

  /** Reads both sides once more, from the first row. */
  async #verify(table: MovedTable): Promise<void> {
    const digester = new Digester(table)
    let told = 0
    for (const { values } of this.#source.rows(table, null)) {
      digester.add(values)
      const { rows } = digester
      if (rows - told >= STEP_ROWS) {
        this.#tell('verify', table, rows - told)
        told = rows
      }
    }
    const here = digester.digest
    this.#tell('verify', table, here.rows - told)
    const there = await this.#target.digest(table)
    if (here.rows !== there.rows || here.sum !== there.sum) throw difference(table, here, there)
  }

  #tell(phase: MoveStep['phase'], { name }: MovedTable, rows: number): void {
    this.#rows += rows
    this.#told({ phase, table: name, rows: this.#rows, of: this.#of })
  }
}

function difference({ name }: MovedTable, here: Digest, there: Digest): StoreMoveError {
  const what =
    here.rows === there.rows
      ? 'their checksums differ'
      : `${here.rows} rows were there, ${there.rows} arrived`
  return new StoreMoveError(
    'not_equal',
    `table ${name}: ${what}. Either the folder was used, or the database changed, since the move began; ` +
      'begin anew with an empty database',
  )
}

/**
 * Copies an embedded store into an empty PostgreSQL database, in steps of which each is one transaction, compares
 * both by number and checksum, and only then makes the database fit for brokers. Run again after it was cut off,
 * it goes on where it stopped. The folder keeps everything.
 * @throws StoreLockedError while a broker has the folder; StoreMoveError; what `openPostgresHost` throws
 */
export async function moveStore(move: StoreMove): Promise<MoveReport> {
  // Loaded here alone: a broker on PostgreSQL never loads node:sqlite.
  const { MoveSource: Source } = await import('./source.ts')
  const source = await Source.open(move.dataDir, move.sources)
  try {
    const host = await openPostgresHost({
      ...{ statementTimeoutMs: STATEMENT_TIMEOUT_MS, listenTarget: null, duringMove: true },
      ...move.target,
    })
    try {
      return await new Mover(move, source, new MoveTarget(host, move.wings)).run()
    } finally {
      await host.close()
    }
  } finally {
    source.close()
  }
}
