import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';

const GYM = 'from nemo_gym.base_resources_server import SimpleResourcesServer\n\n\n';
const FIELD = 'ray-enabled-model-field';

suite('problems of server files', () => {
  let folder: string;
  let files = 0;

  suiteSetup(async () => {
    await vscode.extensions.getExtension('shardboard.shardboard')?.activate();
    folder = await mkdtemp(join(tmpdir(), 'problems-'));
  });

  suiteTeardown(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  teardown(async () => {
    await setSeverity(undefined);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  test('a server that does not say is told, also after an emoji; the fix writes it', async () => {
    const document = await open(`${GYM}class 名S(SimpleResourcesServer): "😀"; x = 1\n\n\n名S.run_webserver()\n`);
    const [problem] = await problemsOf(document, ['ray-enabled-not-declared']);
    assert.equal(document.getText(problem?.range), '名S');
    await apply(document, problem, 'Declare ray_enabled = False in this class');
    await problemsOf(document, []);
    assert.ok(document.getText().includes('ray_enabled = False'));
  });

  test('fixes keep tabs and line ends', async () => {
    const text = `${GYM}class S(SimpleResourcesServer):\n\t"""Docs."""\n\n\tx = 1\n\n\nS.run_webserver()\n`;
    const document = await open(text.replaceAll('\n', '\r\n'));
    const [problem] = await problemsOf(document, ['ray-enabled-not-declared']);
    await apply(document, problem, 'Declare ray_enabled = True in this class');
    assert.ok(document.getText().includes('\t"""Docs."""\r\n\tray_enabled = True\r\n'), document.getText());
    assert.equal(/[^\r]\n/.test(document.getText()), false);
  });

  test('all that have one safe fix are mended at once', async () => {
    const document = await open(
      `import ray\n${GYM}class S(SimpleResourcesServer):\n    ray_enabled: bool = True\n\n\n` +
        'class T(SimpleResourcesServer):\n    ray_enabled = False\n    ray_enabled = True\n\n\n' +
        '@ray.remote\ndef work():\n    pass\n\n\nS.run_webserver()\n',
    );
    await problemsOf(document, [FIELD, 'ray-enabled-declared-twice', 'ray-remote-without-py-executable']);
    await vscode.commands.executeCommand('shardboard.fixAllProblems');
    await problemsOf(document, []);
    const text = document.getText();
    assert.ok(text.includes('ray_enabled: ClassVar[bool] = True'), text);
    assert.ok(text.includes('class T(SimpleResourcesServer):\n    ray_enabled = True\n'), text);
    assert.ok(text.includes('@ray.remote(runtime_env={"py_executable": sys.executable})\ndef work'), text);
  });

  test('what is mended when a file is saved is the text as it is then', async () => {
    const setting = vscode.workspace.getConfiguration('editor');
    await setting.update(
      'codeActionsOnSave',
      { 'source.fixAll.shardboard': 'explicit' },
      vscode.ConfigurationTarget.Global,
    );
    try {
      const document = await open(`${GYM}class S(SimpleResourcesServer):\n    pass\n`);
      // Of the second of two changes that follow one another closely, the problems are shown only some time later.
      const asked = new Promise<vscode.CodeAction[]>((resolve, reject) => {
        const changes = vscode.workspace.onDidChangeTextDocument(() => {
          if (document.getText().includes('ray_enabled')) {
            changes.dispose();
            fixAllOf(document).then(resolve, reject);
          }
        });
      });
      await insert(document, 'x = 1\n    ');
      await insert(document, 'ray_enabled: bool = True\n    ');
      assert.equal((await asked).length, 1);
      // Not document.save(): only the command runs what is to be done on an explicit save.
      await vscode.commands.executeCommand('workbench.action.files.save');
      assert.match(document.getText(), /ray_enabled: ClassVar\[bool\] = True/);
      assert.equal(document.isDirty, false);
    } finally {
      await setting.update('codeActionsOnSave', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test('a comment silences a problem, and the fix writes the comment', async () => {
    const document = await open(`${GYM}class S(SimpleResourcesServer):\n    ray_enabled: bool = True\n`);
    const [problem] = await problemsOf(document, [FIELD]);
    await apply(document, problem, `Silence ${FIELD} here`);
    await problemsOf(document, []);
  });

  test('how grave they are is a setting, which can turn one off', async () => {
    const document = await open(`${GYM}class S(SimpleResourcesServer):\n    ray_enabled: bool = True\n`);
    const [problem] = await problemsOf(document, [FIELD]);
    assert.equal(problem?.severity, vscode.DiagnosticSeverity.Error);
    const { code } = problem;
    assert.ok(typeof code === 'object');
    assert.match(code.target.path, /\/docs\/problems\.md$/);
    await vscode.workspace.fs.stat(code.target.with({ fragment: '' }));
    await setSeverity({ [FIELD]: 'hint' });
    await until(document, ([only]) => only?.severity === vscode.DiagnosticSeverity.Hint);
    await setSeverity({ [FIELD]: 'off' });
    await problemsOf(document, []);
  });

  test('a use of Ray through an import is told with its place', async () => {
    await writeFile(join(folder, 'actors.py'), 'import ray\n');
    const document = await open(
      `import actors\n${GYM}class S(SimpleResourcesServer):\n    ray_enabled = False\n\n\nS.run_webserver()\n`,
    );
    const [problem] = await problemsOf(document, ['ray-used-but-off']);
    assert.match(problem?.relatedInformation?.[0]?.location.uri.path ?? '', /actors\.py$/);
  });

  async function open(text: string): Promise<vscode.TextDocument> {
    const path = join(folder, `server${files++}.py`);
    await writeFile(path, text);
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
    await vscode.window.showTextDocument(document);
    return document;
  }
});

const ours = ({ uri }: vscode.TextDocument): vscode.Diagnostic[] =>
  vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'Shardboard');

/** Waits until the problems of a document are as asked. */
function until(
  document: vscode.TextDocument,
  holds: (problems: vscode.Diagnostic[]) => boolean,
): Promise<vscode.Diagnostic[]> {
  return new Promise((resolve) => {
    const check = (): void => {
      const problems = ours(document);
      if (holds(problems)) {
        subscription.dispose();
        resolve(problems);
      }
    };
    const subscription = vscode.languages.onDidChangeDiagnostics(check);
    check();
  });
}

function problemsOf(document: vscode.TextDocument, codes: readonly string[]): Promise<vscode.Diagnostic[]> {
  const codeOf = ({ code }: vscode.Diagnostic): unknown => (typeof code === 'object' ? code.value : code);
  return until(document, (problems) => problems.map(codeOf).join() === codes.join());
}

const fixAllOf = ({ uri }: vscode.TextDocument): Thenable<vscode.CodeAction[]> =>
  vscode.commands.executeCommand(
    'vscode.executeCodeActionProvider',
    uri,
    new vscode.Range(0, 0, 0, 0),
    'source.fixAll.shardboard',
  );

/** Writes into the body of the first class. */
async function insert({ uri }: vscode.TextDocument, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.insert(uri, new vscode.Position(4, 4), text);
  assert.ok(await vscode.workspace.applyEdit(edit));
}

async function apply(
  document: vscode.TextDocument,
  problem: vscode.Diagnostic | undefined,
  title: string,
): Promise<void> {
  assert.ok(problem);
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    'vscode.executeCodeActionProvider',
    document.uri,
    problem.range,
  );
  const action = actions.find((one) => one.title === title);
  assert.ok(action?.edit, `offered: ${actions.map((one) => one.title).join(', ')}`);
  await vscode.workspace.applyEdit(action.edit);
}

async function setSeverity(value: Record<string, string> | undefined): Promise<void> {
  await vscode.workspace
    .getConfiguration('shardboard.problems')
    .update('severity', value, vscode.ConfigurationTarget.Global);
}
