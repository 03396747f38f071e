/** What goes into the HTML of the results page. Addresses are already those of the webview. */
export interface WebviewHtmlParts {
  readonly cspSource: string;
  readonly nonce: string;
  readonly script: string;
  readonly styles: readonly string[];
  /** Where the page stands: the side bar has no room for everything, and offers the way to the editor area. */
  readonly place: 'view' | 'panel';
}

/**
 * The page's HTML: an empty body, our one script, our style sheets, and a policy that lets nothing else in. What
 * models, benchmarks and files say arrives as messages and is drawn as text.
 */
export function webviewHtml({ cspSource, nonce, script, styles, place }: WebviewHtmlParts): string {
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    `font-src ${cspSource}`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeAttribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Results</title>
${styles.map((style) => `<link rel="stylesheet" href="${escapeAttribute(style)}">`).join('\n')}
</head>
<body data-place="${place}">
<script nonce="${escapeAttribute(nonce)}" src="${escapeAttribute(script)}"></script>
</body>
</html>
`;
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
