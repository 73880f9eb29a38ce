export { toLadderPage } from './ladder-page.ts'
export { toLadderSvg } from './ladder-svg.ts'
