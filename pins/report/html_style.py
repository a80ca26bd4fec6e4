"""The style of the HTML report: light and dark as the reader's system asks, and fit to print."""

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f5f6f8; --ink: #1b1f24; --faint: #57606a; --rule: #d0d7de;
  --good: #116329; --bad: #b3161b; --doubt: #7d4e00; --link: #0550ae;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1318; --raised: #1a2027; --ink: #e6edf3; --faint: #9da7b3; --rule: #3a434d;
    --good: #6bd286; --bad: #ff8f88; --doubt: #e3b341; --link: #79b8ff;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main, footer { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .75rem; overflow-wrap: anywhere; }
h2, summary { font-size: 1.1rem; font-weight: 600; margin: 2rem 0 .5rem; }
summary { cursor: pointer; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em; }
code { overflow-wrap: anywhere; }
pre { background: var(--raised); border: 1px solid var(--rule); border-radius: 6px; padding: .75rem; margin: .5rem 0;
  overflow: auto; max-height: 32rem; }
pre.command { white-space: pre-wrap; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .25rem 1rem; margin: .5rem 0; }
dt { color: var(--faint); }
dd { margin: 0; min-width: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
caption { text-align: left; color: var(--faint); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--rule); }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
ol.chain { list-style: none; margin: .5rem 0; padding: 0; border-left: 3px solid var(--rule); }
ol.chain li { display: flex; flex-wrap: wrap; gap: 0 .75rem; padding: .15rem 0 .15rem .75rem; }
ol.chain .outcome { min-width: 8rem; font-weight: 600; }
ol.strip { list-style: none; display: flex; flex-wrap: wrap; gap: .35rem; margin: .5rem 0; padding: 0; }
ol.strip li { border: 1px solid currentcolor; border-radius: 4px; padding: .1rem .45rem; background: var(--raised); }
ol.strip li.bad code { text-decoration: line-through; }
ol.strip .mark { margin-left: .4rem; padding: 0 .35rem; border-radius: 3px; font-size: .8rem; font-weight: 600;
  background: var(--ink); color: var(--ground); }
figure { margin: .5rem 0; }
figcaption { color: var(--faint); font-size: .9rem; }
svg.drawn { display: block; width: 100%; min-width: 40rem; height: auto; }
svg.drawn text { font-size: 13px; fill: var(--faint); stroke: var(--ground); stroke-width: 4px; paint-order: stroke; }
svg.drawn text.name { fill: var(--ink); font-weight: 600; }
svg.drawn .axis { stroke: var(--faint); stroke-width: 2; }
svg.drawn .guide { stroke: var(--faint); stroke-dasharray: 3 4; fill: none; }
svg.drawn .bar { fill: var(--link); opacity: .7; }
svg.drawn .tick { fill: currentcolor; }
svg.drawn .disc { fill: currentcolor; stroke: var(--ground); stroke-width: .75; }
svg.drawn .ring { fill: var(--ground); stroke: currentcolor; stroke-width: 1.2; }
svg.drawn .cross { fill: none; stroke: currentcolor; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.note { color: var(--faint); }
.strong { font-weight: 600; } .good { color: var(--good); } .bad { color: var(--bad); } .doubt { color: var(--doubt); }
.faint, footer { color: var(--faint); }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
@media print {
  main, footer { max-width: none; padding: 0; }
  svg.drawn { min-width: 0; }
  pre { max-height: none; white-space: pre-wrap; overflow-wrap: anywhere; }
  details::details-content { content-visibility: visible; block-size: auto; }
  details > :not(summary) { display: block; }
  h2, summary { break-after: avoid; }
  tr, li { break-inside: avoid; }
}
"""
