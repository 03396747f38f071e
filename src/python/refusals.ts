/**
 * What Python refuses and the grammar lets pass. The grammar is made for editors: it takes an operand from the next line, an
 * empty body, or lines that are indented as they like, and reports no error. To whoever wants to know whether a file runs,
 * these matter, most of all while it is being typed.
 *
 * Only what is certain is told: where this cannot follow the text, it is the grammar's word that counts.
 */
export function isRefused(statement: string, indentation: string): boolean {
  const lines = logicalLines(statement, indentation);
  return lines !== undefined && (lines.some(isBroken) || isIndentedWrongly(lines) || lacksHandler(lines));
}

/** How deep a line is, as Python counts: a tab leads to the next multiple of eight, a form feed back to the beginning. */
export function widthOf(indentation: string): number {
  let width = 0;
  for (const character of indentation) {
    width = character === '\t' ? (Math.floor(width / 8) + 1) * 8 : character === '\f' ? 0 : width + 1;
  }
  return width;
}

type Kind = 'name' | 'number' | 'string' | 'operator';

interface Token {
  readonly kind: Kind;
  readonly text: string;
}

/** A line as Python sees it, which may go over several lines of the text. */
interface LogicalLine {
  readonly width: number;
  readonly first: Token;
  readonly second: Token | undefined;
  readonly last: Token;
  readonly hasOldForm: boolean;
  /** Whether it has a comma that is in no brackets. */
  readonly hasComma: boolean;
}

/** One token: blanks, a comment, a joined line or a line end among them. A string may have letters before it, which is looked for first. */
const TOKEN =
  /[ \t\f]+|#[^\n]*|\\\r?\n|\r?\n|[rRbBuUfFtT]{0,2}(?:"""(?:[^\\"]|\\[\s\S]|"(?!""))*"""|'''(?:[^\\']|\\[\s\S]|'(?!''))*'''|"(?!"")(?:[^\\"\n]|\\[\s\S])*"|'(?!'')(?:[^\\'\n]|\\[\s\S])*')|\.?\d(?:[eE][-+]|[\w.])*|[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*|[([{)\]}]|\.\.\.|->|:=|<>|\*\*=?|\/\/=?|<<=?|>>=?|[-+*/%@&|^<>=!]=?|[~.,:;`]/y;

/** Where a token stands; its text is only cut out where it matters, since most do not. */
interface Place {
  readonly kind: Kind;
  readonly start: number;
  readonly end: number;
}

/** Undefined when the text is more than this can follow. */
function logicalLines(text: string, indentation: string): LogicalLine[] | undefined {
  const lines: LogicalLine[] = [];
  let first: Place | undefined;
  let second: Place | undefined;
  let last: Place | undefined;
  let depth = 0;
  let hasComma = false;
  let hasOldForm = false;
  let lineStart = -1;
  const tokenAt = ({ kind, start, end }: Place): Token => ({ kind, text: text.slice(start, end) });
  const finish = (): void => {
    if (first && last) {
      const before = lineStart < 0 ? indentation : indentationAt(text, lineStart);
      lines.push({
        width: widthOf(before),
        first: tokenAt(first),
        second: second && tokenAt(second),
        last: tokenAt(last),
        hasOldForm,
        hasComma,
      });
    }
    first = undefined;
    second = undefined;
    last = undefined;
    hasComma = false;
    hasOldForm = false;
  };
  for (let start = 0; start < text.length; ) {
    TOKEN.lastIndex = start;
    // Without the arrays that exec makes: every token of a file comes by here.
    if (!TOKEN.test(text)) {
      return undefined;
    }
    const end = TOKEN.lastIndex;
    const letter = text.charAt(start);
    if (letter === '\n' || letter === '\r') {
      if (depth === 0) {
        finish();
        lineStart = end;
      }
    } else if (!' \t\f#\\'.includes(letter)) {
      const token: Place = { kind: kindOf(text, start, end), start, end };
      depth += OPENING.includes(letter) ? 1 : CLOSING.includes(letter) ? -1 : 0;
      hasComma ||= depth === 0 && letter === ',';
      hasOldForm ||= (letter === '`' || letter === '<' || letter === '0') && isOldForm(tokenAt(token));
      if (!first) {
        first = token;
      } else {
        second ??= token;
      }
      last = token;
    }
    start = end;
  }
  finish();
  return depth === 0 ? lines : undefined;
}

const OPENING = '([{';
const CLOSING = ')]}';

/** What a token is, by its ends: a string may begin as a name does, and a number as an operator. */
function kindOf(text: string, start: number, end: number): Kind {
  const ending = text.charAt(end - 1);
  if (ending === '"' || ending === "'") {
    return 'string';
  }
  const code = text.charCodeAt(start === end - 1 || text.charAt(start) !== '.' ? start : start + 1);
  if (code >= 48 && code <= 57) {
    return 'number';
  }
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code >= 128 ? 'name' : 'operator';
}

function indentationAt(text: string, start: number): string {
  let end = start;
  while (' \t\f'.includes(text.charAt(end)) && end < text.length) {
    end++;
  }
  return text.slice(start, end);
}

/** Python 2 wrote these. */
function isOldForm({ kind, text }: Token): boolean {
  return (kind === 'operator' && (text === '<>' || text === '`')) || (kind === 'number' && /^0\d*[1-9]\d*$/.test(text));
}

/** After these something has to come in the same line. A colon is none of them: a block may follow. */
const OPEN_ENDS: ReadonlySet<string> = new Set(
  `= += -= *= /= //= %= @= &= |= ^= >>= <<= **= := == != < > <= >= + - * / // % @ & | ^ ~ << >> ** . ->
  and as assert await class def del elif for from global if import in is lambda nonlocal not or while with`.split(
    /\s+/,
  ),
);

function isBroken({ first, second, last, hasOldForm, hasComma }: LogicalLine): boolean {
  const isStar = last.text === '*' && first.text === 'from';
  const isOpen = last.kind !== 'string' && last.kind !== 'number' && OPEN_ENDS.has(last.text) && !isStar;
  const isOldRaise = first.text === 'raise' && hasComma;
  return hasOldForm || isOpen || isOldRaise || isOldStatement(first, second) || isWrongTarget(first, second);
}

/** What nothing can be assigned to, and the one assignment that is no statement. */
function isWrongTarget(first: Token, second: Token | undefined): boolean {
  const isAssigned = second?.kind === 'operator' && second.text === '=';
  return (
    (second?.text === ':=' && first.kind === 'name') ||
    (isAssigned && (first.kind === 'string' || first.kind === 'number' || KEYWORDS.test(first.text)))
  );
}

const KEYWORDS =
  /^(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;

/** `print x`: what follows is no operator that could belong to a name `print`. */
function isOldStatement(first: Token, second: Token | undefined): boolean {
  return (
    (first.text === 'print' || first.text === 'exec') &&
    second !== undefined &&
    (second.kind === 'string' ||
      second.kind === 'number' ||
      (second.kind === 'name' && !/^(?:and|as|else|for|if|in|is|not|or)$/.test(second.text)))
  );
}

function opensBlock({ last }: LogicalLine): boolean {
  return last.kind === 'operator' && last.text === ':';
}

function isIndentedWrongly(lines: readonly LogicalLine[]): boolean {
  const [base] = lines;
  const depths = [base?.width ?? 0];
  let isBlockExpected = false;
  for (const [index, line] of lines.entries()) {
    if (index > 0) {
      const depth = depths.at(-1) ?? 0;
      if (isBlockExpected !== line.width > depth) {
        return true;
      }
      if (isBlockExpected) {
        depths.push(line.width);
      }
      while (depths.length > 1 && line.width < (depths.at(-1) ?? 0)) {
        depths.pop();
      }
      if (line.width !== depths.at(-1)) {
        return true;
      }
    }
    isBlockExpected = opensBlock(line);
  }
  return isBlockExpected;
}

/** A `try` needs an `except` or a `finally` where its block ends. */
function lacksHandler(lines: readonly LogicalLine[]): boolean {
  const open: number[] = [];
  for (const { width, first, second } of lines) {
    while (width <= (open.at(-1) ?? -1)) {
      const isHandler = first.text === 'except' || first.text === 'finally';
      if (width < (open.at(-1) ?? -1) || !isHandler) {
        return true;
      }
      open.pop();
    }
    if (first.text === 'try' && second?.text === ':') {
      open.push(width);
    }
  }
  return open.length > 0;
}
