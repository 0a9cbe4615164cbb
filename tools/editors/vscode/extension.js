// Starts `tbemc lsp` for tbem programs. Colours, folding and indentation need none of this: they are package.json's.
'use strict';

const vscode = require('vscode');

let client; // of vscode-languageclient, while a server runs

const settings = () => vscode.workspace.getConfiguration('tbem');

/** What keeps the server from starting is told once, with a way out. */
async function tell(message) {
  const choice = await vscode.window.showErrorMessage(`tbem: ${message}`, 'Open Settings');
  if (choice) await vscode.commands.executeCommand('workbench.action.openSettings', 'tbem.path');
}

async function start() {
  if (client || !vscode.workspace.isTrusted || !settings().get('server.enabled')) return;
  let library;
  try {
    library = require('vscode-languageclient/node');
  } catch {
    tell('vscode-languageclient is missing; run `npm install` in the folder of the extension');
    return;
  }
  const command = settings().get('path');
  const server = { command, args: ['lsp'], transport: library.TransportKind.stdio };
  const starting = new library.LanguageClient('tbem', 'tbemc lsp', server, {
    documentSelector: [{ scheme: 'file', language: 'tbem' }, { scheme: 'untitled', language: 'tbem' }],
  });
  client = starting;
  try {
    await starting.start();
  } catch (error) {
    if (client === starting) client = undefined;
    const reason = error instanceof Error ? error.message : error;
    tell(`\`${command} lsp\` does not start (${reason}); see the setting tbem.path`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running && running.needsStop()) await running.stop();
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand('tbem.restart', restart),
    vscode.workspace.onDidGrantWorkspaceTrust(start),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('tbem.path') || change.affectsConfiguration('tbem.server')) return restart();
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
