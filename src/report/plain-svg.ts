/**
 * The chart library numbers its charts over the life of the process and marks elements for a pointer there is none of here: without that, the same chart is the same
 * bytes. What it does not give is a title, for those who have the picture read to them.
 */
export function toPlainSvg(svg: string, title: string): string {
  return `${svg
    .replaceAll(/<style >[\s\S]*?<\/style>\n?/g, '')
    .replaceAll(/ (?:class|ecmeta_\w+)="[^"]*"/g, '')
    .replaceAll(/zr\d+-/g, 'curve-')
    .replace(/<svg ([^>]*)>/, (_, attributes) => `<svg role="img" ${attributes}>\n<title>${toXmlText(title)}</title>`)
    .trim()}\n`
}

const toXmlText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
