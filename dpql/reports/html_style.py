"""The style sheet of the HTML page; the page's policy allows its hash and no other."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1a1c1e; --quiet: #5b6167;
  --rule: #d9dde1; --soft: #f3f5f7; --blue: #1f5fa8; --pale: #a9c8ea; --warn: #a3232d; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171a; --ink: #e6e8ea; --quiet: #9aa3ab; --rule: #333a41;
    --soft: #1d2226; --blue: #7db4f0; --pale: #2f5c8c; --warn: #ff8f93; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .25rem; }
h1, h2, p, li, td, th, dd, code { overflow-wrap: anywhere; }
p { margin: .25rem 0 .75rem; }
code { font: .875em/1.4 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.quiet { color: var(--quiet); }
.promise { border-left: 4px solid var(--blue); background: var(--soft);
  padding: .9rem 1.1rem; margin: 1.25rem 0; border-radius: 0 .4rem .4rem 0; }
.promise p { margin: 0; font-size: 1.06rem; }
.warning { border: 2px solid var(--warn); color: var(--warn); font-weight: 600;
  padding: .6rem 1rem; margin: 1rem 0; border-radius: .4rem; }
bdi { white-space: pre-wrap; }
.bound { font-weight: 600; }
.mark, .mark td { color: var(--warn); font-size: .875rem; padding-top: 0; }
.lead { font-size: 1.1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.25rem;
  margin: 1rem 0; }
dt { color: var(--quiet); } dd { margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 0;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .75rem .3rem 0; vertical-align: middle;
  border-bottom: 1px solid var(--rule); }
thead th { color: var(--quiet); font-weight: 500; font-size: .875rem; }
.number { text-align: right; white-space: nowrap; }
td.number { font-weight: 600; } td.number + td.number { font-weight: 400; }
.graph { width: 45%; min-width: 9rem; padding-right: 0; }
.ends { display: flex; justify-content: space-between; gap: .5rem;
  white-space: nowrap; }
svg { display: block; width: 100%; height: 20px; }
svg.budget { max-width: 24rem; }
.rail { stroke: var(--rule); stroke-width: 1; vector-effect: non-scaling-stroke; }
.interval { fill: var(--pale); }
.tick { stroke: var(--blue); stroke-width: 3; vector-effect: non-scaling-stroke; }
.bar { fill: var(--blue); opacity: .8; }
.whisker { stroke: var(--ink); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.crossed th { min-width: 4rem; } .crossed td { min-width: 7.5rem; }
.crossed td + td { padding-left: .25rem; }
.crossed .value { font-weight: 600; } .crossed svg { margin-top: .15rem; }
.crossed .between { color: var(--quiet); font-size: .8125rem; white-space: nowrap; }
.crossed .mark { display: block; }
.crossed tbody th { font-weight: 500; position: sticky; left: 0;
  background: var(--paper); }
.over { color: var(--quiet); font-weight: 400; }
.left { fill: var(--rule); } .before { fill: var(--pale); } .now { fill: var(--blue); }
details { margin: .75rem 0; } summary { cursor: pointer; color: var(--quiet); }
footer { margin-top: 3rem; border-top: 1px solid var(--rule); padding-top: 1rem; }
@media (max-width: 36rem) { dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; } th, td { padding-right: .5rem; }
  .values, .values thead, .values tbody { display: block; }
  .values tr { display: flex; flex-wrap: wrap; align-items: baseline;
    border-bottom: 1px solid var(--rule); padding: .2rem 0; }
  .values th, .values td { border: 0; padding: .1rem .5rem .1rem 0; flex: 1 1 auto; }
  .values .number { flex: 0 0 auto; }
  .values .number + .number { padding: .1rem 0 .1rem .5rem; }
  .values .graph { flex: 1 0 100%; min-width: 0; padding: 0; }
  .crossed th { min-width: 2.75rem; } .crossed td { min-width: 6rem; }
  main { padding: 1.25rem .9rem 3rem; } }
@media print { main { max-width: none; } details { display: none; } }
"""
