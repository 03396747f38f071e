/** Stands in for VS Code's Python Environments extension: a test says which interpreter is chosen for which folder. */
const vscode = require('vscode');

class Api {
  /** @type {Map<string | undefined, string | undefined>} */
  #chosen = new Map();
  #changed = new vscode.EventEmitter();
  onDidChangeEnvironment = this.#changed.event;

  /** @param {import('vscode').Uri | undefined} resource */
  async getEnvironment(resource) {
    const executable = this.#chosen.get(resource?.toString());
    return executable === undefined ? undefined : { execInfo: { run: { executable } } };
  }

  /**
   * @param {import('vscode').Uri} resource
   * @param {string | undefined} executable
   */
  choose(resource, executable) {
    this.#chosen.set(resource.toString(), executable);
    this.#changed.fire({ uri: resource });
  }
}

exports.activate = () => new Api();
