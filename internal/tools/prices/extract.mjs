// Writes the table of prices and context windows (prices.jsonl.gz) and the cases that hold our
// arithmetic to the source's own (testdata/cases.jsonl). The source is the npm package
// @pydantic/genai-prices (MIT). Run by `make prices`.
//
//   node extract.mjs DIR_OF_THE_PACKAGE OUT_DIR DATE
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'

const [dir, out, date] = process.argv.slice(2)
const source = await import(pathToFileURL(`${dir}/dist/index.js`))
const version = JSON.parse(readFileSync(`${dir}/package.json`, 'utf8')).version

// The package lists its providers nowhere: their ids stand in its data.
const ids = [...readFileSync(`${dir}/dist/index.js`, 'utf8').matchAll(/^ {4}id: "([^"]+)"/gm)].map(m => m[1])
const providers = [...new Set(ids)].map(id => source.findProvider({ providerId: id })).filter((p, i) => p && p.id === ids[i])

// Go's regular expressions know no lookahead. One at the beginning of a pattern is a rule of its own.
function rule(r) {
  if (r.or) return { or: r.or.map(rule) }
  if (r.and) return { and: r.and.map(rule) }
  if (!r.regex) return r
  let re = r.regex
  const all = []
  while (re.startsWith('^(?!')) {
    let depth = 1, i = 4
    for (; depth > 0; i++) {
      if (re[i] === '\\') { i++; continue }
      if (re[i] === '[') { while (re[i] !== ']') i++; continue }
      if (re[i] === '(') depth++
      if (re[i] === ')') depth--
    }
    all.push({ not: { regex: `^(?:${re.slice(4, i - 1)})` } })
    re = '^' + re.slice(i)
  }
  if (/\(\?[=!<]/.test(re)) throw new Error(`a pattern that cannot be carried over: ${r.regex}`)
  if (re !== '^') all.push({ regex: re })
  return all.length === 1 ? all[0] : { and: all }
}

const kept = { input_mtok: 'in', output_mtok: 'out', cache_read_mtok: 'read', cache_write_mtok: 'write', output_reasoning_mtok: 'thought', requests_kcount: 'request' }
function price(p) {
  const row = {}
  for (const [key, name] of Object.entries(kept)) if (p[key] !== undefined) row[name] = p[key]
  return row
}

const lines = [JSON.stringify({ source: '@pydantic/genai-prices', version, date })]
for (const p of providers) {
  lines.push(JSON.stringify({ provider: p.id, also: p.fallback_model_providers }))
  for (const m of p.models) {
    const prices = (Array.isArray(m.prices) ? m.prices : [{ prices: m.prices }]).map(c => ({
      ...price(c.prices), since: c.constraint?.start_date, from: c.constraint?.start_time, until: c.constraint?.end_time,
    }))
    lines.push(JSON.stringify({ id: m.id, match: rule(m.match), window: m.context_window, prices }))
  }
}
writeFileSync(`${out}/prices.jsonl.gz`, gzipSync(lines.join('\n') + '\n', { level: 9 })) // zcat shows it

// Cases: for every eighth model, by chance,, its own id and one that its rule matches only by beginning.
let seed = 7
const random = n => { seed = (seed * 69069 + 12345) % 4294967296; return Math.floor(seed / 4096) % n }
const cases = []
for (const p of providers) for (const m of p.models) {
  if (random(8)) continue
  for (const name of [m.id, m.id + '-20250930', m.id.toUpperCase()]) {
    const big = random(4) === 0 ? 500000 : 5000
    const read = random(big), write = random(100), input = read + write + random(big), reasoning = random(50), output = reasoning + random(3000)
    const when = ['2025-03-01T03:00:00Z', '2025-11-01T20:30:00Z', '2026-09-30T12:00:00Z'][random(3)]
    let got = null
    try {
      got = source.calcPrice({ input_tokens: input, cache_read_tokens: read, cache_write_tokens: write, output_tokens: output, output_reasoning_tokens: reasoning },
        name, { providerId: p.id, timestamp: new Date(when) })
    } catch { continue }
    if (got && got.model_price.input_mtok === undefined) continue
    cases.push(JSON.stringify({ provider: p.id, model: name, when, in: input, read, write, out: output, thought: reasoning, id: got?.model.id ?? null, usd: got?.total_price ?? null }))
  }
}
writeFileSync(`${out}/testdata/cases.jsonl`, cases.join('\n') + '\n')
console.log(`${providers.length} providers, ${lines.length - 1 - providers.length} models, ${cases.length} cases`)
