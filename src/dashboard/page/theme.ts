/** What the reader chose; `auto` is what the system says. */
export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEY = 'troupe-theme'
const system = matchMedia('(prefers-color-scheme: dark)')

export function readTheme(): Theme {
  const kept = storage()?.getItem(KEY)
  return THEMES.find(theme => theme === kept) ?? 'auto'
}

export function setTheme(theme: Theme): void {
  storage()?.setItem(KEY, theme)
  applyTheme(theme)
}

export function applyTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function isDark(): boolean {
  const { theme } = document.documentElement.dataset
  return theme === undefined ? system.matches : theme === 'dark'
}

/** Calls whenever the system's own answer changes. */
export function onSystemTheme(changed: () => void): void {
  system.addEventListener('change', changed)
}

/** Some readers' browsers keep nothing: then the choice lasts as long as the page. */
function storage(): Storage | undefined {
  try {
    return localStorage
  } catch {
    return undefined
  }
}
