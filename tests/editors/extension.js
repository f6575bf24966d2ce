// docs/editors/vscode/extension.js against stand-ins for the editor and its client: extension.js SOURCE.
"use strict";

const assert = require("node:assert/strict");
const Module = require("node:module");
const path = require("node:path");

const clients = [];
class LanguageClient {
  constructor(id, name, server, options) {
    Object.assign(this, { id, server, options, running: false });
    clients.push(this);
  }
  async start() {
    if (this.server.command === "missing") throw new Error("not found");
    this.running = true;
  }
  async stop() {
    this.running = false;
  }
}

const settings = { path: "napkin", target: "", costs: false };
const commands = {};
const errors = [];
let changed;
const vscode = {
  workspace: {
    getConfiguration: (section) => ({ get: (name) => (section === "napkin" ? settings[name] : undefined) }),
    onDidChangeConfiguration: (call) => ((changed = call), { dispose() {} }),
  },
  commands: { registerCommand: (name, call) => ((commands[name] = call), { dispose() {} }) },
  window: { showErrorMessage: (text) => errors.push(text) },
};

const load = Module._load;
Module._load = (name, ...rest) => {
  if (name === "vscode") return vscode;
  if (name === "vscode-languageclient/node") return { LanguageClient };
  return load(name, ...rest);
};

(async () => {
  const folder = path.join(process.argv[2], "docs/editors/vscode");
  const extension = require(path.join(folder, "extension.js"));
  const manifest = require(path.join(folder, "package.json"));
  const context = { subscriptions: [] };

  await extension.activate(context);
  assert.deepEqual(clients[0].server, { command: "napkin", args: ["lsp"] });
  assert.deepEqual(clients[0].options.documentSelector, [{ language: manifest.contributes.languages[0].id }]);
  assert.deepEqual(Object.keys(commands), manifest.contributes.commands.map((each) => each.command));
  assert.ok(clients[0].running);
  assert.equal(context.subscriptions.length, 2);

  settings.target = "h100-sxm5";
  settings.costs = true;
  await changed({ affectsConfiguration: (section) => section === "napkin" });
  assert.ok(!clients[0].running && clients[1].running);
  assert.deepEqual(clients[1].options.initializationOptions, { target: "h100-sxm5", costs: true });
  await changed({ affectsConfiguration: () => false });
  assert.equal(clients.length, 2);

  settings.path = "missing";
  await commands["napkin.restart"]();
  assert.match(errors[0], /`missing` does not start; set napkin\.path/);
  await extension.deactivate();
  assert.ok(clients.every((client) => !client.running));
  console.log("the extension starts, restarts and stops the server");
})().catch((problem) => {
  console.error(problem.message);
  process.exit(1);
});
