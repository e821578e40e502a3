/** Builds one element. Text is always set as text, never as HTML: message content comes from strangers. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === undefined || value === null) continue
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined))
  return element
}

const count = new Intl.NumberFormat('en')
const rate = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** A whole number with separators; a dash for what is not known. */
export const formatCount = (value) => (typeof value === 'number' ? count.format(value) : '–')

/** A rate per second. */
export const formatRate = (value) => (typeof value === 'number' ? rate.format(value) : '–')

/** A moment in the reader's own time zone. */
export function formatTime(iso) {
  if (!iso) return '–'
  return new Date(iso).toLocaleString('en-GB', { dateStyle: 'short', timeStyle: 'medium' })
}

/** Seconds as the largest unit that says enough. */
export function formatSeconds(value) {
  if (typeof value !== 'number') return '–'
  if (value < 60) return `${rate.format(value)} s`
  if (value < 3600) return `${rate.format(value / 60)} min`
  return `${rate.format(value / 3600)} h`
}

/** A table in a frame that scrolls sideways on a narrow screen. */
export function table({ caption, columns, rows, empty }) {
  if (rows.length === 0) return h('p', { class: 'panel none' }, empty)
  const head = columns.map(({ label, numeric }) =>
    h('th', { scope: 'col', class: numeric ? 'num' : null }, label),
  )
  const body = rows.map((row) =>
    h(
      'tr',
      null,
      columns.map(({ cell, numeric, id }) =>
        h('td', { class: numeric ? 'num' : id ? 'id' : null }, cell(row)),
      ),
    ),
  )
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h(
      'table',
      null,
      h('caption', null, caption),
      h('thead', null, h('tr', null, head)),
      h('tbody', null, body),
    ),
  )
}

/** Figures in boxes: pairs of name and text. */
export function tiles(pairs) {
  return h(
    'dl',
    { class: 'tiles' },
    pairs.map(([name, text]) =>
      h('div', { class: 'tile' }, h('dt', null, name), h('dd', { 'data-figure': name }, text)),
    ),
  )
}

/** JSON laid out for reading. */
export const json = (value) => h('pre', null, JSON.stringify(value, null, 2))

/** A labelled field of a filter form. */
export function field(label, name, value, options) {
  const control = options
    ? h(
        'select',
        { name },
        options.map(([key, text]) => h('option', { value: key, selected: key === value }, text)),
      )
    : h('input', { name, value: value ?? '' })
  return h('label', null, label, control)
}
