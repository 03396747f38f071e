import * as vscode from 'vscode';

/** The place of one question in a row of questions. */
interface StepPlace {
  readonly title: string;
  readonly step: number;
  readonly totalSteps: number;
  /** Whether it is asked on the side, from where there is always a way back. */
  readonly isAside?: boolean;
}

/** Asks one question; given to each step by `runSteps`. */
export interface Asker {
  pick<T extends vscode.QuickPickItem>(options: {
    readonly placeholder: string;
    readonly items: readonly (T | Separator)[];
    readonly active?: T | undefined;
    /** Whether an item only tells something, and is no answer. */
    readonly isNoAnswer?: (item: T) => boolean;
    /** A click on a button of an item; gives the items as they are then. */
    readonly onButton?: (item: T, button: vscode.QuickInputButton) => Promise<readonly (T | Separator)[]>;
  }): Promise<T>;
  input(options: {
    readonly prompt: string;
    readonly value?: string;
    readonly placeholder?: string;
    readonly password?: boolean;
    /** Gives the sentence that says what is wrong, or undefined when nothing is. */
    readonly validate: (value: string) => string | undefined;
  }): Promise<string>;
  /**
   * Asks on the side, and comes back to where it was asked from.
   *
   * @returns undefined when the person goes back or leaves: what was answered before is not to be lost by that.
   */
  aside<T>(question: (ask: Asker) => Promise<T>): Promise<T | undefined>;
}

/** A line between items, with a name for those below it. */
export interface Separator extends vscode.QuickPickItem {
  readonly kind: vscode.QuickPickItemKind.Separator;
}

/** Makes a line between items. */
export function separator(label: string): Separator {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

/** One question (or two, when an answer asks for another): takes the answers so far and gives them back with its own. */
export type Step<A> = (ask: Asker, answers: A) => Promise<A>;

const BACK = Symbol('back');

/**
 * Asks a row of questions, one after the other, with a way back to each before.
 *
 * @param steps the questions, or what makes them of the answers so far when an answer can make others needless
 * @throws vscode.CancellationError when the person leaves the row.
 */
export async function runSteps<A>(
  title: string,
  steps: readonly Step<A>[] | ((answers: A) => readonly Step<A>[]),
  initial: A,
): Promise<A> {
  // The answers as they were before each step, so that going back takes an answer away.
  const before: A[] = [];
  let answers = initial;
  for (let index = 0; ; ) {
    const row = typeof steps === 'function' ? steps(answers) : steps;
    const step = row[index];
    if (!step) {
      return answers;
    }
    try {
      const next = await step(createAsker({ title, step: index + 1, totalSteps: row.length }), answers);
      before.push(answers);
      answers = next;
      index += 1;
    } catch (error) {
      if (error !== BACK) {
        throw error;
      }
      answers = before.pop() ?? initial;
      index = Math.max(0, index - 1);
    }
  }
}

function createAsker(place: StepPlace): Asker {
  const asker: Asker = {
    pick: <T extends vscode.QuickPickItem>(options: Parameters<typeof asker.pick<T>>[0]) => {
      const pick = vscode.window.createQuickPick<T | Separator>();
      pick.items = [...options.items];
      pick.placeholder = options.placeholder;
      pick.matchOnDescription = true;
      if (options.active) {
        pick.activeItems = [options.active];
      }
      const { onButton, isNoAnswer } = options;
      pick.onDidTriggerItemButton(async ({ item, button }) => {
        if (onButton && !isSeparator(item)) {
          pick.items = [...(await onButton(item, button))];
        }
      });
      return ask(pick, place, () => {
        const [item] = pick.selectedItems;
        return item === undefined || isSeparator(item) || isNoAnswer?.(item) ? undefined : item;
      });
    },
    input: (options) => {
      const box = vscode.window.createInputBox();
      box.prompt = options.prompt;
      box.value = options.value ?? '';
      box.placeholder = options.placeholder ?? '';
      box.password = options.password ?? false;
      box.onDidChangeValue(() => {
        box.validationMessage = undefined;
      });
      return ask(box, place, () => {
        const value = box.value.trim();
        box.validationMessage = options.validate(value);
        return box.validationMessage === undefined ? value : undefined;
      });
    },
    async aside(question) {
      try {
        return await question(createAsker({ ...place, isAside: true }));
      } catch (error) {
        if (error === BACK || error instanceof vscode.CancellationError) {
          return undefined;
        }
        throw error;
      }
    },
  };
  return asker;
}

function isSeparator(item: vscode.QuickPickItem): item is Separator {
  return item.kind === vscode.QuickPickItemKind.Separator;
}

/** Shows a quick input until it gives an answer; an undefined answer keeps it open. */
function ask<T>(
  input: vscode.QuickInput & Pick<vscode.InputBox, 'buttons' | 'onDidTriggerButton' | 'onDidAccept'>,
  { title, step, totalSteps, isAside }: StepPlace,
  answer: () => T | undefined,
): Promise<T> {
  Object.assign(input, { title, step, totalSteps });
  // A click elsewhere must not throw away what was answered so far.
  input.ignoreFocusOut = true;
  input.buttons = step > 1 || isAside ? [vscode.QuickInputButtons.Back] : [];
  return new Promise<T>((resolve, reject) => {
    const subscriptions = [
      input.onDidTriggerButton(() => settle(() => reject(BACK))),
      input.onDidHide(() => settle(() => reject(new vscode.CancellationError()))),
      input.onDidAccept(() => {
        const value = answer();
        if (value !== undefined) {
          settle(() => resolve(value));
        }
      }),
    ];
    const settle = (finish: () => void): void => {
      for (const subscription of subscriptions) {
        subscription.dispose();
      }
      finish();
      input.dispose();
    };
    input.show();
  });
}
