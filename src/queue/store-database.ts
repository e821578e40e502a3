/** One row of figures, under names of our own. */
export type FigureRow = Readonly<Record<string, string | number | null>>

/** What a database server counts about the store. Queue API 11, `postgres-stats`. */
export interface DatabaseFigures {
  /** Name of the database. */
  readonly database: string
  readonly databaseCache: FigureRow
  readonly tableCache: readonly FigureRow[]
  readonly indexCache: readonly FigureRow[]
  readonly cacheSummary: FigureRow
  readonly deadTuples: readonly FigureRow[]
  readonly hotUpdates: readonly FigureRow[]
  readonly activeQueries: readonly FigureRow[]
  readonly autovacuumStatus: readonly FigureRow[]
  readonly bufferConfig: FigureRow
  readonly bufferUsage: readonly FigureRow[]
  readonly tableSizes: readonly FigureRow[]
}

/** The reads behind the figures of a database server: arguments and result. */
export interface DatabaseReads {
  /** null: the store is no server. */
  databaseFigures: { args: null; result: DatabaseFigures | null }
}
