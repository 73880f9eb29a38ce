/** Medians of three of the published walkthrough, in seconds, by how many sandboxes were asked for at once. */
export const PUBLISHED_USABLE_S: Readonly<Record<number, number>> = { 8: 2.8, 32: 3.3, 128: 5.1, 256: 9.9 }
/** The same from the provider's own pool. */
export const PUBLISHED_POOL_USABLE_S: Readonly<Record<number, number>> = { 128: 4.4, 256: 7.3 }
