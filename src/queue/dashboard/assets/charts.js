import { h } from './dom.js'
import uPlot from './vendor/uPlot.esm.js'

const HEIGHT_PX = 170

/** The colour behind a custom property, resolved for the scheme in use: a canvas takes no `light-dark()`. */
function color(name) {
  const probe = document.body.appendChild(h('span'))
  probe.style.color = `var(${name})`
  const resolved = getComputedStyle(probe).color
  probe.remove()
  return resolved
}

/**
 * A line plot over time in a titled panel. `series` are labels; `draw(columns)` takes the times in epoch
 * seconds followed by one array of values a series.
 */
export function linePlot(title, unit, series) {
  const holder = h('div', { class: 'chart', role: 'img', 'aria-label': `${title}, ${unit}` })
  const element = h('section', { class: 'panel' }, h('h2', null, `${title} (${unit})`), holder)
  const axis = { stroke: color('--soft'), grid: { stroke: color('--line'), width: 1 } }
  let plot
  const make = (columns) => {
    plot = new uPlot(
      {
        width: holder.clientWidth,
        height: HEIGHT_PX,
        legend: { live: false },
        cursor: { drag: { x: false, y: false } },
        scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] } },
        axes: [axis, { ...axis, size: 56 }],
        series: [
          {},
          ...series.map((label, index) => ({
            label,
            stroke: color(`--series-${index + 1}`),
            width: 2,
            points: { show: false },
          })),
        ],
      },
      columns,
      holder,
    )
  }
  new ResizeObserver(() => plot?.setSize({ width: holder.clientWidth, height: HEIGHT_PX })).observe(
    holder,
  )
  const draw = (columns) => {
    if (plot) plot.setData(columns)
    else if (holder.clientWidth > 0) make(columns)
    const last = series.map((label, index) => `${label} ${columns[index + 1].at(-1) ?? 0}`)
    holder.setAttribute('aria-label', `${title}, ${unit}: ${last.join(', ')}`)
  }
  return { element, draw }
}
