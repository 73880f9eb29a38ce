import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'

interface PanelProps {
  readonly title: string
  readonly note?: string | undefined
  readonly controls?: ComponentChildren
  readonly children: ComponentChildren
}

/** One subject of a view, under its heading. */
export function Panel({ title, note, controls, children }: PanelProps) {
  const id = useId()
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {note !== undefined && <p>{note}</p>}
        {controls !== undefined && <div class="controls">{controls}</div>}
      </header>
      {children}
    </section>
  )
}

/** What is missing, and how to get it. */
export function Empty({ what, how }: { readonly what: string; readonly how: string }) {
  return (
    <p class="empty">
      <strong>{what}</strong> {how}
    </p>
  )
}

interface FoldProps {
  readonly summary: string
  /** Made only while it is open. */
  readonly children: () => ComponentChildren
}

/** Folded at first; what is in it is not made before it is opened. */
export function Fold({ summary, children }: FoldProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  )
}
