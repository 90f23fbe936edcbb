// The decoders from npm, for the benchmark in ../decode.
//
//   node decode.mjs once ENGINE FILE WITH_VALUE   decodes once and prints {cpu_ns, error, value}
//   node decode.mjs serve                         reads lines of {engine, file, turns} and prints {cpu_ns, error} for each
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { jsonrepair } from "jsonrepair";
import { parse } from "partial-json";

const engines = {
  "npm jsonrepair + JSON.parse": (text) => JSON.parse(jsonrepair(text)),
  "npm partial-json": (text) => parse(text),
  // A program that shows an answer while it arrives parses all of it again for each token.
  "npm partial-json, all again for each token": (text) => {
    let value;
    for (let end = 4; end < text.length + 4; end += 4) value = parse(text.slice(0, end));
    return value;
  },
};

function timed(engine, text, turns) {
  const answer = { cpu_ns: 0, error: "" };
  const before = process.cpuUsage();
  try {
    for (let i = 0; i < turns; i++) answer.value = engines[engine](text);
  } catch (e) {
    answer.error = String(e.message ?? e).split("\n")[0];
  }
  const used = process.cpuUsage(before);
  answer.cpu_ns = (used.user + used.system) * 1000;
  return answer;
}

const [mode, engine, file, withValue] = process.argv.slice(2);
if (mode === "once") {
  const answer = timed(engine, readFileSync(file, "utf8"), 1);
  if (withValue !== "true") delete answer.value;
  process.stdout.write(JSON.stringify(answer));
} else {
  const texts = new Map();
  for await (const line of createInterface({ input: process.stdin })) {
    const ask = JSON.parse(line);
    if (!texts.has(ask.file)) texts.set(ask.file, readFileSync(ask.file, "utf8"));
    const { cpu_ns, error } = timed(ask.engine, texts.get(ask.file), ask.turns);
    process.stdout.write(JSON.stringify({ cpu_ns, error }) + "\n");
  }
}
