// What the readers of npm make of texts, for the table of ../reading.
//
//   node read.mjs < lines of {text}   prints for each {reader: value as JSON, or null when it is refused}
import { createInterface } from "node:readline";
import { parsePartialJson } from "ai";
import { jsonrepair } from "jsonrepair";
import { parse } from "partial-json";

const readers = {
  jsonrepair: (text) => JSON.parse(jsonrepair(text)),
  "partial-json": (text) => parse(text),
  "AI SDK": async (text) => (await parsePartialJson(text)).value,
};

for await (const line of createInterface({ input: process.stdin })) {
  const answer = {};
  for (const [name, read] of Object.entries(readers)) {
    try {
      answer[name] = JSON.stringify(await read(JSON.parse(line).text)) ?? null;
    } catch {
      answer[name] = null;
    }
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
