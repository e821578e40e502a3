import type { Statements } from '../../../storage/index.ts'
import {
  type Head,
  type HistoryPage,
  MAX_CURSOR_SEARCH_UPDATES,
  type StoredUpdate,
} from '../../store.ts'

/** Updates in one page, and the bytes of data after which a page is full. */
const PAGE_UPDATES = 256
const PAGE_BYTES = 1024 * 1024

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

interface Row {
  readonly newest: number
  readonly oldest: number
  /** Null in the only row of an empty page. */
  readonly seq: number | null
  readonly id: string
  readonly private: boolean
  readonly topics: string
  readonly data: Uint8Array
  readonly type: string | null
  readonly retry: string | null
}

/**
 * A page with the ends of the history, all of one moment. `$2`: 0 for the history alone, 1 for rows too that
 * were trimmed from it and are not deleted yet.
 */
const PAGE = `
  SELECT h.seq AS newest, h.oldest, u.*
  FROM hivegate.hub_head h LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT seq, id, private, topics, data, type, retry,
             sum(octet_length(data)) OVER (ORDER BY seq) - octet_length(data) AS bytes_before
      FROM hivegate.hub_update
      WHERE seq > greatest($1, CASE WHEN $2 = 0 THEN h.oldest - 1 ELSE $1 END)
      ORDER BY seq LIMIT ${PAGE_UPDATES}) page
    WHERE bytes_before < ${PAGE_BYTES}) u ON true
  ORDER BY u.seq`

const LOCATE = `
  SELECT u.seq FROM hivegate.hub_head h JOIN hivegate.hub_update u
    ON u.seq > h.seq - ${MAX_CURSOR_SEARCH_UPDATES} AND u.seq >= h.oldest
  WHERE hashtextextended(u.id, 0) = hashtextextended($1, 0) AND u.id = $1
  ORDER BY u.seq LIMIT 1`

function storedUpdate(row: Row, seq: number): StoredUpdate {
  const { type, retry } = row
  return {
    seq,
    id: row.id,
    // Written by this store as an array of texts.
    topics: JSON.parse(row.topics) as string[],
    data: UTF8.decode(row.data),
    private: row.private,
    ...(type === null ? {} : { type }),
    ...(retry === null ? {} : { retry }),
  }
}

/** Which rows a page is made of. */
export type PageOf = 'history' | 'all'

/** A page, and the position of the newest update ever accepted. */
export interface FeedPage extends HistoryPage {
  readonly newest: number
}

/** The updates after a position; see `HubStore.readAfter`. */
export async function readPage(db: Statements, seq: number, of: PageOf): Promise<FeedPage> {
  const rows = await db.rows<Row>('hub_page', PAGE, [seq, of === 'history' ? 0 : 1])
  const { newest = 0, oldest = 1 } = rows[0] ?? {}
  const updates = rows.flatMap((row) => (row.seq === null ? [] : [storedUpdate(row, row.seq)]))
  const last = updates.at(-1)?.seq ?? seq
  return { updates, complete: seq + 1 >= oldest, atHead: last >= newest, newest }
}

/** The newest update ever. */
export async function readHead(db: Statements): Promise<Head> {
  const sql = 'SELECT seq, id FROM hivegate.hub_head'
  const [row] = await db.rows<{ seq: number; id: string | null }>('hub_head', sql)
  return { seq: row?.seq ?? 0, id: row?.id ?? undefined }
}

/** The first of the newest updates that has this id. */
export async function locate(db: Statements, id: string): Promise<number | undefined> {
  // No update can have such an id, and the database would not take the question.
  if (id.includes('\0') || !id.isWellFormed()) return undefined
  const [row] = await db.rows<{ seq: number }>('hub_locate', LOCATE, [id])
  return row?.seq
}
