import { BASE } from './style/base.ts'
import { PARTS } from './style/parts.ts'
import { VIEWS } from './style/views.ts'

/** The page's style sheet. */
export const STYLE = `${BASE}${PARTS}${VIEWS}`

const IMPORTS = JSON.stringify({
  imports: {
    echarts: '/lib/echarts.js',
    preact: '/lib/preact.js',
    'preact/hooks': '/lib/preact-hooks.js',
    'preact/jsx-runtime': '/lib/preact-jsx-runtime.js',
  },
})

/** The page: everything else comes from the server that sent it. */
export const DOCUMENT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Troupe</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page/style.css">
<script type="importmap">${IMPORTS}</script>
<script type="module" src="/page/main.js"></script>
</head>
<body>
<div id="page"><noscript>This page draws what the engine tells it, and needs JavaScript for that. \`troupe top\` shows the same in a terminal.</noscript></div>
</body>
</html>
`
