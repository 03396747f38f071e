import type { Node } from 'web-tree-sitter';
import type { SourceRange } from '../python/syntax';
import { declareFlag, dropAnnotation, insertion, keepLastDeclaration, newlineOf, type TextChange } from './flagEdits';
import { annotateClassVar, declareClassVar, givePyExecutable } from './importingEdits';
import type { GymProblem, ProblemFix } from './problems';

/**
 * What to change in a text to mend a problem; undefined when the text has changed so that it cannot be done any more.
 *
 * @param subject the place that the fix is for, in this text
 */
export function changesFor(fix: ProblemFix, subject: SourceRange, root: Node, text: string): TextChange[] | undefined {
  switch (fix.kind) {
    case 'declare':
      return (fix.asClassVar ? declareClassVar : declareFlag)(root, text, subject, fix.value === 'on');
    case 'annotate_class_var':
      return annotateClassVar(root, text, subject);
    case 'drop_annotation':
      return dropAnnotation(root, text, subject);
    case 'keep_last':
      return keepLastDeclaration(root, text, subject);
    case 'give_py_executable':
      return givePyExecutable(root, text, subject);
  }
}

/** What a fix does, for the menu. */
export function fixTitle(fix: ProblemFix): string {
  switch (fix.kind) {
    case 'declare':
      return `Declare ray_enabled${fix.asClassVar ? ': ClassVar[bool]' : ''} = ${fix.value === 'on' ? 'True' : 'False'} in this class`;
    case 'annotate_class_var':
      return 'Annotate it as ClassVar';
    case 'drop_annotation':
      return 'Drop the annotation';
    case 'keep_last':
      return 'Keep only the last declaration';
    case 'give_py_executable':
      return "Give it this server's own Python";
  }
}

/** Whether there is one way to mend a problem that changes nothing of what the server does, or of what is meant. */
export function hasOneSafeFix({ code, fixes }: GymProblem): boolean {
  return (
    (code === 'ray-enabled-model-field' && (fixes[0]?.kind === 'annotate_class_var' || fixes.length === 1)) ||
    code === 'ray-enabled-declared-twice' ||
    code === 'ray-remote-without-py-executable' ||
    (code === 'ray-enabled-not-readable' && fixes.length === 1)
  );
}

/** The comment that silences a problem, in a line of its own above it. */
export function silencingChange(code: string, line: number, text: string): TextChange {
  const lines = text.split('\n');
  const start = lines.slice(0, line).reduce((sum, { length }) => sum + length + 1, 0);
  const indentation = /^[ \t]*/.exec(lines[line] ?? '')?.[0] ?? '';
  return insertion(start, `${indentation}# shardboard: ignore[${code}]${newlineOf(text)}`);
}
