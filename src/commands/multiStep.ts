import * as vscode from 'vscode';

/** The place of one question in a row of questions. */
interface StepPlace {
  readonly title: string;
  readonly step: number;
  readonly totalSteps: number;
}

/** Asks one question; given to each step by `runSteps`. */
export interface Asker {
  pick<T extends vscode.QuickPickItem>(options: {
    readonly placeholder: string;
    readonly items: readonly T[];
    readonly active?: T | undefined;
  }): Promise<T>;
  input(options: {
    readonly prompt: string;
    readonly value?: string;
    readonly placeholder?: string;
    readonly password?: boolean;
    /** Gives the sentence that says what is wrong, or undefined when nothing is. */
    readonly validate: (value: string) => string | undefined;
  }): Promise<string>;
}

/** One question (or two, when an answer asks for another): takes the answers so far and gives them back with its own. */
export type Step<A> = (ask: Asker, answers: A) => Promise<A>;

const BACK = Symbol('back');

/**
 * Asks a row of questions, one after the other, with a way back to each before.
 *
 * @throws vscode.CancellationError when the person leaves the row.
 */
export async function runSteps<A>(title: string, steps: readonly Step<A>[], initial: A): Promise<A> {
  // The answers as they were before each step, so that going back takes an answer away.
  const before: A[] = [];
  let answers = initial;
  for (let index = 0; index < steps.length; ) {
    const step = steps[index];
    if (!step) {
      break;
    }
    try {
      const next = await step(createAsker({ title, step: index + 1, totalSteps: steps.length }), answers);
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
  return answers;
}

function createAsker(place: StepPlace): Asker {
  return {
    pick: (options) => {
      const pick = vscode.window.createQuickPick<(typeof options.items)[number]>();
      pick.items = [...options.items];
      pick.placeholder = options.placeholder;
      pick.matchOnDescription = true;
      if (options.active) {
        pick.activeItems = [options.active];
      }
      return ask(pick, place, () => pick.selectedItems[0]);
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
  };
}

/** Shows a quick input until it gives an answer; an undefined answer keeps it open. */
function ask<T>(
  input: vscode.QuickPick<vscode.QuickPickItem> | vscode.InputBox,
  place: StepPlace,
  answer: () => T | undefined,
): Promise<T> {
  Object.assign(input, place);
  // A click elsewhere must not throw away what was answered so far.
  input.ignoreFocusOut = true;
  input.buttons = place.step > 1 ? [vscode.QuickInputButtons.Back] : [];
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
