/**
 * Characters that can stand in a Python name and that Python, which compares names in their NFKC form, takes for an ASCII
 * letter, digit or underscore: a full-width `ｒａｙ` is `ray`. Ranges may hold a few others in between.
 */
const LOOKALIKES =
  /[\u00aa\u00ba\u0132\u0133\u013f\u0140\u0149\u017f\u01c4-\u01cc\u01f1-\u01f3\u02b0-\u02b8\u02e1-\u02e3\u1d2c-\u1d65\u1d9c-\u1dbb\u1e9a\u2071-\u207f\u2090-\u209c\u2102-\u2149\u2160-\u217f\u2c7c\u2c7d\ua7f1-\ua7f4\ufb00-\ufb06\ufe33\ufe34\ufe4d-\ufe4f\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a\u{107a5}\u{1ccf0}-\u{1ccf9}\u{1d400}-\u{1d6a3}\u{1d7ce}-\u{1d7ff}\u{1fbf0}-\u{1fbf9}]/u;

/** What is searched in vain, and for that reason quickly left out. */
const ASCII = /[ -~\s]+/g;

function hasLookalikes(text: string): boolean {
  return LOOKALIKES.test(text.replace(ASCII, ''));
}

/** The text in which ASCII names can be searched as Python would find them. Most texts are returned as they are. */
export function withoutLookalikes(text: string): string {
  return hasLookalikes(text) ? text.normalize('NFKC') : text;
}

/** The offsets of the letters that Python takes for others. */
export function offsetsOfLookalikes(text: string): number[] {
  if (!hasLookalikes(text)) {
    return [];
  }
  const offsets: number[] = [];
  let offset = 0;
  for (const character of text) {
    if (LOOKALIKES.test(character)) {
      offsets.push(offset);
    }
    offset += character.length;
  }
  return offsets;
}
