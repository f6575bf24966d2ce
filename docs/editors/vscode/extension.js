// Starts `napkin lsp` for .nap files, and again when a setting of it changes.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("napkin");
  const server = { command: settings.get("path"), args: ["lsp"] };
  const options = {
    documentSelector: [{ language: "nap" }],
    initializationOptions: { target: settings.get("target"), costs: settings.get("costs") },
  };
  client = new LanguageClient("napkin", "napkin", server, options);
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`napkin: \`${server.command}\` does not start; set napkin.path. ${error}`);
    client = undefined;
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("napkin.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("napkin") && restart()),
  );
  await start();
};

exports.deactivate = stop;
