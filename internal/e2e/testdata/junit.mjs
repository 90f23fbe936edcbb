// Reads a report as junit2json does, and writes it as JSON.
// node junit.mjs junit2json/dist/esm/index.js report.xml
import {readFileSync} from 'node:fs'

const {parse} = await import(process.argv[2])
console.log(JSON.stringify(await parse(readFileSync(process.argv[3], 'utf8'))))
