// Is a terminal. Each line of stdin is a command in JSON: {write: BASE64}, {resize: [COLUMNS, ROWS]} or {}. Each is
// answered with a line: how many rows the terminal has and how many of them are in use from the cursor on, and all
// that is written on it, with what has scrolled out of sight.
//
//   node xterm.mjs COLUMNS ROWS DIRECTORY-WITH-node_modules
import path from 'node:path';
import readline from 'node:readline';
import {createRequire} from 'node:module';

const [cols, rows, installed] = process.argv.slice(2);
const {Terminal} = createRequire(path.join(installed, 'x.js'))('@xterm/headless');
const terminal = new Terminal({cols: +cols, rows: +rows, scrollback: 5000, allowProposedApi: true});

const lines = () => {
  const buffer = terminal.buffer.active, all = [];
  for (let i = 0; i < buffer.length; i++) {
    const line = buffer.getLine(i), text = line.translateToString(true);
    if (line.isWrapped) all[all.length - 1].push(text); else all.push([text]);
  }
  return all.map(parts => parts.join(''));
};

const used = () => {
  const buffer = terminal.buffer.active;
  const from = buffer.baseY + buffer.cursorY;
  let last = buffer.length;
  while (last > from && !buffer.getLine(last - 1).translateToString(true)) last--;
  return last - from;
};

for await (const line of readline.createInterface({input: process.stdin})) {
  const {write, resize} = JSON.parse(line);
  if (resize) terminal.resize(...resize);
  if (write) await new Promise(done => terminal.write(Buffer.from(write, 'base64'), done));
  console.log(JSON.stringify({rows: terminal.rows, used: used(), text: lines().join('\n').trimEnd() + '\n'}));
}
