/** What is used of a package that comes without types. */
declare module 'jstat' {
  interface Distribution {
    /** The value below which a share `p` lies, at so many degrees of freedom. */
    inv(p: number, degreesOfFreedom: number): number
  }
  const library: { readonly jStat: { readonly studentt: Distribution } }
  export default library
}
