// Reads texts with the readers from npm, for the table of ../reading.
//
//   node read.mjs < lines of {text}   prints {reader: value as JSON, or null if refused} for each
//   node read.mjs corpus              prints the texts in the tests of best-effort-json-parser as lines of {text, want}
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { parsePartialJson } from "ai";
import { parse as parseBestEffort, setErrorLogger } from "best-effort-json-parser";
import { jsonrepair } from "jsonrepair";
import { parse } from "partial-json";

// BAML reads the return value of a function in a program. The closest that it has to no type is a type of all JSON values.
const { BamlRuntime } = createRequire(import.meta.url)("./node_modules/@boundaryml/baml/native.js");
const program = `
client<llm> None {
  provider openai
  options {
    model none
    api_key none
  }
}
type Any = int | float | bool | string | null | Any[] | map<string, Any>
function Read() -> Any {
  client None
  prompt #"{{ ctx.output_format }}"#
}
`;

const readers = {
  jsonrepair: (text) => JSON.parse(jsonrepair(text)),
  "partial-json": (text) => parse(text),
  "AI SDK": async (text) => (await parsePartialJson(text)).value,
  "best-effort": (text) => parseBestEffort(text),
};

setErrorLogger(() => {}); // it logs each text that it refuses
parseBestEffort.onExtraToken = () => {};

if (process.argv[2] === "corpus") {
  const tests = readFileSync("node_modules/best-effort-json-parser/src/parse.spec.ts", "utf8");
  for (const found of tests.matchAll(/expect\(\s*parse\((`[^`]*`)\),?\s*\)\s*\.(?:deep\.)?equals\(/g)) {
    const text = eval(found[1]);
    const value = closed(tests, found.index + found[0].length);
    try {
      const want = JSON.stringify(eval(`(${value})`));
      if (want !== undefined) process.stdout.write(JSON.stringify({ text, want: JSON.parse(want) }) + "\n");
    } catch {} // the expected value refers to a variable of the test
  }
} else {
  const baml = BamlRuntime.fromFiles(".", { "main.baml": program }, {});
  readers.BAML = (text) => baml.parseLlmResponse("Read", text, false, baml.createContextManager(), null, null, {});
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
}

// closed returns the text from an offset up to the parenthesis that closes the one open at the offset.
function closed(text, from) {
  for (let at = from, depth = 1; ; at++) {
    if (text[at] === "(") depth++;
    if (text[at] === ")" && --depth === 0) return text.slice(from, at);
  }
}
