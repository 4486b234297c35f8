/** Below a list of broken pages that has redirects whose target was refused: they count as broken, but may be well. */
export const REFUSED_REDIRECTS =
  'A reason "redirect: to … refused" means that a rule of the crawl (such as its scope) forbade the target: nobody asked\nwhether it works. sumi why URL prints the rule.\n';
