// Of every page of the site: the theme that was chosen, and the search. Without it pages are read as well.
;(() => {
  const script = document.currentScript
  const root = script.dataset.root
  const KEY = 'troupe-theme'
  const MOST = 12

  const choose = theme => {
    document.documentElement.dataset.theme = theme
  }
  const isDark = () =>
    (document.documentElement.dataset.theme ??
      (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'
  const kept = recall()
  if (kept !== null) choose(kept)

  /** Some browsers keep nothing for pages that are opened from a disk. */
  function recall() {
    try {
      return localStorage.getItem(KEY)
    } catch {
      return null
    }
  }

  function keep(theme) {
    try {
      localStorage.setItem(KEY, theme)
    } catch {
      // It is chosen for this page alone.
    }
  }

  const load = name =>
    new Promise((resolve, reject) => {
      const element = document.createElement('script')
      element.src = `${root}assets/${name}`
      element.onload = resolve
      element.onerror = reject
      document.head.append(element)
    })

  let loading
  const open = () => {
    loading ??= Promise.all([load('minisearch.js'), load('search-index.js')]).then(() => {
      const { index, options } = window.troupeSearch
      return window.MiniSearch.loadJSON(index, options)
    })
    return loading
  }

  document.addEventListener('DOMContentLoaded', () => {
    document.querySelector('.theme').addEventListener('click', () => {
      const theme = isDark() ? 'light' : 'dark'
      choose(theme)
      keep(theme)
    })
    const pages = document.querySelector('nav.pages details')
    if (matchMedia('(max-width: 60rem)').matches) pages.open = false

    const input = document.querySelector('.search input')
    const list = document.querySelector('#found')
    const show = async () => {
      const words = input.value.trim()
      const found = words === '' ? [] : (await open()).search(words).slice(0, MOST)
      if (input.value.trim() !== words) return
      list.replaceChildren(
        ...found.map(({ heading, id, page }) => {
          const link = document.createElement('a')
          link.href = root + id
          link.textContent = heading === page ? page : `${page}: ${heading}`
          const item = document.createElement('li')
          item.append(link)
          return item
        }),
      )
      if (found.length === 0 && words !== '') list.textContent = 'Nothing found.'
      list.hidden = words === ''
    }
    input.addEventListener('focus', () => void open())
    input.addEventListener('input', () => void show())
    input.addEventListener('keydown', event => {
      if (event.key === 'Enter') list.querySelector('a')?.click()
      if (event.key === 'ArrowDown') list.querySelector('a')?.focus()
    })
    document.addEventListener('keydown', event => {
      if (event.key === 'Escape') list.hidden = true
      if (event.key !== '/' || event.target instanceof HTMLInputElement) return
      event.preventDefault()
      input.focus()
    })
  })
})()
