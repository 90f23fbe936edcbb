// Reads recorded requests to a provider, makes each of them with a client that others wrote, and
// prints what that client sends, a line of JSON for each: {file, body} or {file, error}.
//
//   node clients.mjs mistral|deepseek DIRECTORY-OF-REQUESTS DIRECTORY-WITH-node_modules
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const [provider, requests, installed] = process.argv.slice(2);
const load = name => import(pathToFileURL(createRequire(path.join(installed, 'x.js')).resolve(name)));

// What the caller gives keeps its names; all else has the names of the client's own language.
const own = new Set(['parameters', 'schema', 'arguments']);
const camel = (v, key) => Array.isArray(v) ? v.map(x => camel(x)) :
  v && typeof v === 'object' && !own.has(key) ? Object.fromEntries(Object.entries(v).map(([k, x]) =>
    [k === 'schema' ? 'schemaDefinition' : k.replace(/_([a-z])/g, (_, c) => c.toUpperCase()), camel(x, k)])) : v;

async function mistral(wire, sent) {
  const {Mistral, HTTPClient} = await load('@mistralai/mistralai');
  const httpClient = new HTTPClient({fetcher: async req => { sent(await req.text()); return new Response('{}', {status: 400}); }});
  await new Mistral({apiKey: 'k', httpClient, retryConfig: {strategy: 'none'}}).chat.complete(camel(wire));
}

async function deepseek(wire, sent) {
  const {createDeepSeek} = await load('@ai-sdk/deepseek');
  const client = createDeepSeek({apiKey: 'k', fetch: async (_, init) => { sent(init.body); return new Response('{}', {status: 400}); }});
  const names = {};
  const args = text => { try { return JSON.parse(text); } catch { return text; } };
  const message = {
    system: m => ({role: 'system', content: m.content}),
    user: m => ({role: 'user', content: typeof m.content === 'string' ? [{type: 'text', text: m.content}] : m.content.map(p =>
      p.type === 'text' ? p : {type: 'file', mediaType: 'image/*', data: new URL(p.image_url.url)})}),
    assistant: m => ({role: 'assistant', content: [
      ...(m.reasoning_content ? [{type: 'reasoning', text: m.reasoning_content}] : []),
      ...(m.content ? [{type: 'text', text: m.content}] : []),
      ...(m.tool_calls || []).map(c => {
        names[c.id] = c.function.name;
        return {type: 'tool-call', toolCallId: c.id, toolName: c.function.name, input: args(c.function.arguments)};
      })]}),
    tool: m => ({role: 'tool', content: [{type: 'tool-result', toolCallId: m.tool_call_id, toolName: names[m.tool_call_id], output: {type: 'text', value: m.content}}]}),
  };
  const c = wire.tool_choice;
  await client(wire.model).doGenerate({
    prompt: wire.messages.map(m => message[m.role](m)),
    tools: wire.tools?.map(t => ({type: 'function', name: t.function.name, description: t.function.description, inputSchema: t.function.parameters, strict: t.function.strict})),
    toolChoice: c === undefined ? undefined : typeof c === 'string' ? {type: c} : {type: 'tool', toolName: c.function.name},
    temperature: wire.temperature, topP: wire.top_p, maxOutputTokens: wire.max_tokens, stopSequences: wire.stop, seed: wire.seed,
    responseFormat: wire.response_format && {type: 'json'},
    providerOptions: {deepseek: {...(wire.thinking && {thinking: wire.thinking}), ...(wire.reasoning_effort && {reasoningEffort: wire.reasoning_effort})}},
  });
}

const make = {mistral, deepseek}[provider];
for (const file of fs.readdirSync(requests)) {
  const text = fs.readFileSync(path.join(requests, file), 'utf8');
  if (!file.startsWith(provider) || !text.startsWith('{')) continue; // an error instead of a request
  let body, error;
  try {
    await make(JSON.parse(text), b => { body = JSON.parse(b); });
  } catch (e) {
    error = String(e.message || e);
  }
  console.log(JSON.stringify({file, body, error: body ? undefined : error}));
}
